"""The forge's records, and what all of its answers have in common."""
