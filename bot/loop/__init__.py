"""The loop: observe, stage, push, do; and the lease under which it writes.

What asks the forge raises `Unavailable` or `Refused`, as everywhere in the bot.
"""
