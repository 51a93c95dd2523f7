"""Workflow files executed by act, in the place of the local forge's own starter."""
