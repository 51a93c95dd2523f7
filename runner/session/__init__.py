"""One session from its start to its end; above all other rooms of the runner.

What asks the live feed raises FeedError where it refuses, and OSError or another error
of http.client or json where there is no valid answer.
"""
