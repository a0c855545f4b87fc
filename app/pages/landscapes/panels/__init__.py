"""Panels of the page "Landscapes"."""
