"""The dashboard: what the log says, in a browser, live; and buttons for who may write.

Pages are rendered here and sent whole; when the log moves, a page asks for itself
again. Every text on a page comes from somebody else and is escaped. What a
request may not have is raised as one of aiohttp's `HTTPException`s.
"""
