"""The client of the forge: its REST API, who we are there, and how fast we may ask."""
