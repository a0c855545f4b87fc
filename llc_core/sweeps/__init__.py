"""Sweeps: many runs on many machines, into one file."""
