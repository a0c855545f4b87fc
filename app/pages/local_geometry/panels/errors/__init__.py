"""What λ says about new data: the four errors, WAIC and WBIC on data set after data set."""
