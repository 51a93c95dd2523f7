"""The key proxy, a process of its own: holds the model's key, so that no agent does."""
