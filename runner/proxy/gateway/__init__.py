"""What an agent may ask its model's vendor for: pure rules, no input or output."""
