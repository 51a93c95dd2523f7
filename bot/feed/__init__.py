"""The live feed: what running sessions send while they run. Advisory, all of it."""
