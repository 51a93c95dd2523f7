"""The REST endpoints and git over HTTP."""
