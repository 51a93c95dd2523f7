"""The session's side of the live feed; nothing here may harm a session.

Whatever goes wrong is tried again later or dropped. Nothing is raised, and nobody waits
for the feed longer than the few seconds named here.
"""
