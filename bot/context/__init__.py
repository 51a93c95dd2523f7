"""What every role works with: the mirror, the forge, the clock, the bot's identity."""
