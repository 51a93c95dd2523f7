"""Receives deliveries, and keeps each request until the loop has dealt with it."""
