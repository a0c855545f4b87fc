"""What loss traces that some tool made say about themselves."""
