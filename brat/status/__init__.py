"""The state of convoys and sessions, for people and for programs."""
