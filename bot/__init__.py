"""The service: door, loop, mayor, refinery, deacon, and the GitHub driver."""
