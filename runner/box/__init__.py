"""Processes and what keeps them apart; what the kernel refuses is an OSError."""
