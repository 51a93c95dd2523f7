"""The bot's bare clone, and what is built, read and pushed in it."""
