"""Page "Many modes": two ways to find 25 modes, at equal gradients, beside the exact masses (paper 002)."""
