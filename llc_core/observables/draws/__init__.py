"""Draws of what the chains pass: losses, outputs of a network, single weights, kept evenly spaced along the chains."""
