"""What a request to each vendor may hold: its fields, and the values of some."""
