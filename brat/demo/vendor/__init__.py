"""A model vendor on loopback whose model follows a script: no key, no account.

It speaks the four dialects that the agent CLIs speak, and can fail as vendors do, so
that a real CLI can be shown and tested without anybody's account.
"""
