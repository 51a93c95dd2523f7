"""The event log in git refs: wire format, write, read, leases. Knows no convoys."""
