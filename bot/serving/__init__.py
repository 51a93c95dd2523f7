"""A bot as a process: for one repository, for many, for once."""
