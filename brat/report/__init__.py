"""`brat report`: how a convoy went, as one self-contained page."""
