"""Exact samplers and volumes, to judge estimates by."""
