"""Networks with a prior over their weights: posteriors over functions."""
