"""The agent's checkout, the witness's copy of it, and the commits of the work."""
