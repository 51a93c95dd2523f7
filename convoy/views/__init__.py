"""The state and the log, told to people and programs. Pure."""
