"""The inputs of one job, from its environment and from file descriptors."""
