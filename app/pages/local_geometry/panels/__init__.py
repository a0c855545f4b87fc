"""Panels of the page "Local geometry"."""
