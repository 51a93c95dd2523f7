"""The ways people make requests: comments, reviews, ticked boxes and labels."""
