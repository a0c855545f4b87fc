"""Distributions that chains settle in, beside exact ones."""
