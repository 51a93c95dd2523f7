"""A session's results: its result folder, its transcript, the job's page."""
