"""The key proxy: holds the model's key for one session, so that the agent does not.

A process of its own, and the only part of the runner that serves HTTP. Nothing else
here may import it: `runner.gateway` starts it, `runner.wire` is what both speak.
"""
