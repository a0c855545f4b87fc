"""Panels of the page "Stationary bias"."""
