"""The repository that brat works on: its checkout, its log, its workflow files."""
