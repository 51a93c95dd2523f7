"""The forge's state on disk: records, tokens and git repositories."""
