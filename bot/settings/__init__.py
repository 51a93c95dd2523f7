"""The settings that a bot process starts with; no other room of the bot is below."""
