"""The event log in git refs: wire format, append, read, leases. Knows no convoys."""
