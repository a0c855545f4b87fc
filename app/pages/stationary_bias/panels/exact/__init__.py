"""Panel "Exact law": the stationary density at each step size, without Monte Carlo."""
