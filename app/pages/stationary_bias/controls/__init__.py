"""What is set on the page "Stationary bias": samplers, the run, and targets of one's own."""
