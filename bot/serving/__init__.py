"""The bot as a process: for one repository, for many, or for one job of a workflow.

What keeps it from serving (a key, a folder, an address, a port) is a `BratError`, whose
text says what to do.
"""
