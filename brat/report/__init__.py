"""`brat report`: how a convoy went, as one page that needs nothing else."""
