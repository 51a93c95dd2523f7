"""The values that make up events and the state, and what follows from them. Pure."""
