"""`brat doctor`: report what is wrong here and how to repair it."""
