"""The rules of convoys, pure: what may happen, what is true, what is owed."""
