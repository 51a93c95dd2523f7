"""The bot as a process: for one repository, for many, or for one job of a workflow."""
