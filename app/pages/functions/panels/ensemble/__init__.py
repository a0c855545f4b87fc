"""How far the distribution of many chains is from the exact posterior, iteration by iteration (kernel Stein discrepancy)."""
