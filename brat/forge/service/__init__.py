"""The running forge: what follows from a change, beside the REST endpoints."""
