"""The `brat` command and the local forge; this package wires the others together.

What cannot be done is a `BratError` whose message says what to do; one that may pass by
itself is `Unavailable`. Other exceptions are named where they are raised.
"""
