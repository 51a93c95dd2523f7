"""Text from outside and for people: cleaned, cut, fenced, named."""
