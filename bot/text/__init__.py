"""What readers see of strangers' Markdown, and what the bot says on the forge. Pure."""
