"""The site: every page of docs, the notebooks with their figures, the samplers and the engine's functions, from files alone."""
