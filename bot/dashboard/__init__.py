"""The dashboard: what the log says, in a browser, live; and buttons for who may write.

Pages are made here and sent whole; when the log moves, a page asks for itself again.
Every text on them is somebody else's and is escaped.
"""
