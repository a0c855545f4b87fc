"""How near the estimates are to exact answers."""
