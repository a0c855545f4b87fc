"""Panels of the page "Your network"."""
