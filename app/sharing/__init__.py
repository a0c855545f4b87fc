"""Links, configuration files and everything a visitor takes away."""
