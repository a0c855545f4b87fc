"""The app as a server: many visitors, long hours, what a visitor sees."""
