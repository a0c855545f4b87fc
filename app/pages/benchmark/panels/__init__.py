"""Panels of the page "Benchmark"."""
