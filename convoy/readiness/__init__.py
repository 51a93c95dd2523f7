"""Whether a task may start and a change may land, and what stands in the way. Pure."""
