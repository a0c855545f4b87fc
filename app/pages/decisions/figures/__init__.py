"""Figures of the page "Decisions"."""
