"""Real merge conflicts: what resolves them, and whether people resolved them so."""
