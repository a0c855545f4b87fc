"""Potentials on the line: named, written by hand, drawn as a table."""
