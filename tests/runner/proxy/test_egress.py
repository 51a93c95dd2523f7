"""Who is reached through the proxy, and who is not: the real one, over real sockets."""

from runner.proxy.proxy_protocol import Refused
from tests.runner.proxy.vendor import heard
from tests.runner.proxy.world import asked, proxy, server
from tests.world.cases import looped

CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"


def test_a_listed_host_is_asked_plainly_without_what_was_for_the_proxy() -> None:
    with server() as there, proxy(f"127.0.0.1:{there.port}") as (_, way):
        line = f"GET {there.url}/a?b=c HTTP/1.1"
        assert asked(way, line, "X-Mine: 1", "Host: evil").endswith(b"\r\n\r\nhi")

    head = there.heads[0].decode().split("\r\n")
    assert head[:3] == [
        "GET /a?b=c HTTP/1.1",
        f"Host: 127.0.0.1:{there.port}",
        "Connection: close",
    ]
    assert "X-Mine: 1" in head
    assert not [line for line in head if line.lower().startswith(("proxy", "host: e"))]


def tunnel(port: int, host: str = "127.0.0.1") -> str:
    return f"CONNECT {host}:{port} HTTP/1.1"


@looped("", "brat:another@", "x:{}@")
def test_who_does_not_show_the_sessions_token_is_sent_away(shown: str) -> None:
    with server() as there, proxy(f"127.0.0.1:{there.port}") as (_, way):
        before, _, after = way.removeprefix("http://").partition("@")
        other = f"http://{shown.format(before.removeprefix('brat:'))}{after}"
        for line in (tunnel(there.port), f"GET {there.url}/ HTTP/1.1"):
            assert asked(other, line).startswith(b"HTTP/1.1 407 ")
        assert asked(way, tunnel(there.port)).endswith(b"hi")

    assert len(there.heads) == 1


def test_who_is_not_listed_is_refused_with_a_reason_and_told_once() -> None:
    with server() as there, proxy("pypi.org") as (gateway, way):
        told = heard(gateway)
        for _ in range(2):
            assert asked(way, tunnel(there.port)).startswith(b"HTTP/1.1 403 ")
        why = asked(way, "GET http://evil.example/?leak=1 HTTP/1.1")

    assert why.startswith(b"HTTP/1.1 403 ")
    assert why.endswith(
        b"\nbrat does not allow access to evil.example:80; list the allowed hosts "
        b"in .brat/config.toml: for agents in [runner] egress, for CI in [ci] egress.\n"
    )
    ending = "which is not listed"
    assert told == [
        Refused(what=f"127.0.0.1:{there.port}, {ending}"),
        Refused(what=f"evil.example:80, {ending}"),
    ]
    assert there.heads == []


def test_a_listed_name_that_leads_to_an_address_that_is_not_is_refused() -> None:
    with server() as there:
        port = there.port
        with proxy(f"127.1:{port}") as (gateway, way):
            told = heard(gateway)
            assert asked(way, tunnel(port, "127.1")).startswith(b"HTTP/1.1 502 ")
        assert there.heads == []
        with proxy(f"127.1:{port}", f"127.0.0.1:{port}") as (_, way):
            assert asked(way, tunnel(port, "127.1")).endswith(b"hi")

    leads = "which resolves to 127.0.0.1, an unlisted address"
    assert told == [Refused(what=f"127.1:{port}, {leads}")]


def test_a_name_that_is_none_ends_its_own_connection_alone() -> None:
    with proxy("*.example") as (gateway, way):
        for name in ("a" * 64, "a..b", "\xad", "a\0b", "xn--\x80"):
            assert b" 200 " not in asked(way, f"CONNECT {name}.example:443 HTTP/1.1")
            assert asked(way, "CONNECT other:443 HTTP/1.1").startswith(b"HTTP/1.1 403 ")
        assert not gateway.over


def test_what_is_no_request_to_a_proxy_is_told_so() -> None:
    with proxy("pypi.org", "pypi.org:8443") as (gateway, way):
        for text in (
            *("GET / HTTP/1.1\r\nHost: pypi.org", "CONNECT pypi.org:port HTTP/1.1"),
            *("GET ftp://pypi.org/ HTTP/1.1", "\x16\x03\x01\x02"),
            # these would go there without TLS
            *("GET https://pypi.org/ HTTP/1.1", "GET https://pypi.org:8443/ HTTP/1.1"),
            "GET http://[:80/ HTTP/1.1",
            # what is another request to a proxy that reads less strictly
            "GET\thttp://10.0.0.1/\tHTTP/1.1\nA:b\n\nGET http://pypi.org/ HTTP/1.1",
            "GET http://pypi.org/ HTTP/1.1\r\nA: b\n\nGET http://10.0.0.1/ HTTP/1.1",
            "GET http://pypi.org/ HTTP/1.1\r\nProxy-Authorization : Basic eA==",
            "GET http://pypi.org/ HTTP/1.1\r\nA: b\r\n c",
        ):
            found = asked(way, text)
            assert found.startswith(b"HTTP/1.1 400 Bad Request\r\n"), text
        assert not gateway.over


def test_a_machines_own_proxy_is_gone_through() -> None:
    with server(CONNECTED + b"there") as above:
        own = f"http://me:s%20cret@127.0.0.1:{above.port}"
        with proxy("pypi.org", HTTPS_PROXY=own, HTTP_PROXY=own) as (_, way):
            got = asked(way, "CONNECT pypi.org:443 HTTP/1.1")
            asked(way, "GET http://pypi.org/simple HTTP/1.1")

    assert got == CONNECTED + b"there"
    tunnel, plain = (head.decode() for head in above.heads)
    assert tunnel.startswith("CONNECT pypi.org:443 HTTP/1.1\r\nHost: pypi.org:443\r\n")
    assert plain.startswith("GET http://pypi.org/simple HTTP/1.1\r\nHost: pypi.org\r\n")
    for head in (tunnel, plain):
        assert "\r\nProxy-Authorization: Basic bWU6cyBjcmV0\r\n" in head
