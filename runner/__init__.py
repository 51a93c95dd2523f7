"""The job: one task, one agent, one result folder. Never speaks to the forge API."""
