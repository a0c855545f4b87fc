"""Page "Decisions": bandits and classifiers that should know what they do not know (paper 002)."""
