"""Mayor, witness, refinery, deacon: the bot's side of each."""
