"""The client of the forge: its REST API, the bot's identity there, and its pace."""
