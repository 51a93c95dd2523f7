"""The bot's side of mayor, witness and refinery, and what each of them works with."""
