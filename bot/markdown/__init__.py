"""Markdown from strangers: what readers see of it, and what brat takes out. Pure."""
