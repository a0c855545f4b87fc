"""The ways to step chains: all at once, by Metropolis, one by one, recorded, compiled."""
