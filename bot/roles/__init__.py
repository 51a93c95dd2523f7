"""The bot's side of mayor, witness, refinery and deacon."""
