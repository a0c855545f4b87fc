"""Exact answers about the functions of Bayesian networks, at infinite width and at any width."""
