"""Runs of all visitors: one manager per process. Nothing here imports Panel."""
