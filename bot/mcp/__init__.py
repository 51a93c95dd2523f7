"""The MCP server: what agents and editors read of a repository, and decide in it."""
