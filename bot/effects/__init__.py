"""What the bot changes on the forge: announced actions, and what people see there."""
