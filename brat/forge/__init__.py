"""A small forge on loopback: REST, git over HTTP, webhooks, workflow runs, CI."""
