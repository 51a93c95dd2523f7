"""The REST endpoints and git over HTTP; what they refuse, they do by `Refused`."""
