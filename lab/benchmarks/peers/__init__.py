"""Other programs on the same problems."""
