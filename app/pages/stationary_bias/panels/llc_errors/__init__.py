"""Panel "Does it matter for λ̂?": what the bias of a sampler does to estimates of λ."""
