"""Local mode: one repository, its forge on loopback, and the loop."""
