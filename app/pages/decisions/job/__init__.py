"""What runs on the page "Decisions": a play of bandits, or chains of a classifier."""
