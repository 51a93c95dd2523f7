"""The log: events as bytes, folded to a state, and read on from what is known."""
