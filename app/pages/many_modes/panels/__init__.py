"""The cards of the page "Many modes": each side, and KL against gradients."""
