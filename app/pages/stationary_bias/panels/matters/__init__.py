"""Panel "Does it matter?": what the bias does to estimates of λ."""
