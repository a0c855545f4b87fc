"""Panel "Sweep": the error over a range of step sizes."""
