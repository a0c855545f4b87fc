"""The window around the pages: navigation, notebook view, what is warmed up at the start."""
