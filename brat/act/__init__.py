"""Workflow files executed by act instead of the local forge's own starter."""
