"""The key proxy: holds the model's key for one session, so that the agent does not.

The proxy is a process of its own (`runner.proxy.model_server`), which nothing else may
import. `runner.session.proxy_client` starts it; both speak `proxy_protocol`.
"""
