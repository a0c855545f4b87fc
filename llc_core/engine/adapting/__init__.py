"""What is adapted during burn-in and frozen after it."""
