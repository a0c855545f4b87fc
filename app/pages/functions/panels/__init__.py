"""Calculations of the page "Weights and functions" beside its run."""
