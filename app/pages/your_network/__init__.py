"""Page "Your network": trained networks and weights from a file."""
