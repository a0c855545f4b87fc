"""Page "Stationary bias": densities that adaptive samplers converge to on the line."""
