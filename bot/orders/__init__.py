"""What people ask for, by commands, boxes and reviews: heard, decided, answered."""
