"""The terminal: messages on stderr, results on stdout, screens that stay."""
