"""`brat demo`: a sample project with bugs, and the whole loop run on it."""
