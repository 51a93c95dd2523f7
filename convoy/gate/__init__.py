"""The patch gate: what the commits of an agent may not do. Pure."""
