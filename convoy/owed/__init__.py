"""The actions due now to bring the world in line with the log. Pure."""
