"""Studies of Hitchcock & Hoogland, a benchmark for local posterior sampling: deep linear networks, ReLU networks, heads."""
