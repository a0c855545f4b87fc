"""How fast the engine is, as ratios measured side by side."""
