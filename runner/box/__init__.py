"""Processes and what keeps them apart: the agent's box, supervision, signals."""
