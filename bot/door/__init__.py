"""What comes in: deliveries, and what none told of; kept until it is dealt with."""
