"""Covariances of losses along the chains: which rows go together, which rows matter, and what a part of the weights answers to."""
