"""Chains on the line and on the plane, compiled."""
