"""The bot's bare clone: what the bot reads there, builds there, and pushes from it.

Whatever runs git may raise `GitFailed` (a commit is not there, or git says no) and
`Unavailable` (the remote does not answer, there is no room, or git takes too long);
whatever pushes, `Conflict` too (somebody else moved a ref). All of it blocks.
"""
