"""Rows that a network is evaluated on: read as people have them, kept, and taken when they are needed."""
