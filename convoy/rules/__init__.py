"""The rules that depend on a task's kind or on what is ready. Pure."""
