"""Addresses, times and refusals in the form that GitHub gives them."""
