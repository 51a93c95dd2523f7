"""The words of the command line; what they do is imported when they are used."""
