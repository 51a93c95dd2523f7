"""Sign people in with tokens."""
