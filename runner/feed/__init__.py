"""The live feed, from the session's side. Advisory: nothing here may harm a session.

Whatever goes wrong is tried again later or dropped; nothing is raised, and nobody waits
for it longer than the few seconds that are named here.
"""
