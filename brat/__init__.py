"""The command people type, and the local forge; wires the rest together."""
