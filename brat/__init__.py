"""The `brat` command and the local forge; this package wires the others together."""
