"""`brat setup`: what a repository on GitHub needs: planned, done and proved."""
