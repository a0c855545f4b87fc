"""Whether an estimate can be trusted: convergence of chains, the verdict, signals."""
