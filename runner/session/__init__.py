"""One session from its start to its end; above all other rooms of the runner."""
