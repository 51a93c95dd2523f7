"""The key proxy: holds the model's key for one session, so that the agent does not.

The proxy is a process of its own, which begins in `runner.proxy.proxy_main`; nothing
else may import its servers. `runner.session.proxy_client` starts it; both speak
`proxy_protocol`.
"""
