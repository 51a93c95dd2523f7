"""Real histories, done again as convoys, beside simpler ways of doing the same."""
