"""Free energy by tempering: a ladder in nβ from the prior, and λ, its multiplicity and log Z read off it."""
