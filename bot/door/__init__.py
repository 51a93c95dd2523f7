"""What comes in: deliveries, kept until the loop has done them, and the live feed.

No rule depends on what running sessions send.
"""
