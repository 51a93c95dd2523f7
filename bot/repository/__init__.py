"""The bot's bare clone: what the bot reads there, builds there, and pushes from it."""
