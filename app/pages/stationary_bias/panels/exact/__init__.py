"""Panel "Exact distribution": the stationary density at each step size, without Monte Carlo."""
