"""Page "Local geometry": estimates for deep linear networks beside the exact coefficient."""
