"""The live feed: what running sessions send. No rule depends on it."""
