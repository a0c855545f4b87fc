"""Page "Weights and functions": chains of weights, the functions that they stand for, and the exact posterior of these."""
