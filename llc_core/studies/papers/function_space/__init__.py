"""Studies of Langevin dynamics of weights and of functions: the same chains, metrics, bands of networks, risks."""
