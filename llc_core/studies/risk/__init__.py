"""Semi-synthetic risk: real inputs, targets drawn from a network of the prior, and what the exact posterior would lose."""
