"""The proxy's own process: the only part of the runner that serves HTTP."""
