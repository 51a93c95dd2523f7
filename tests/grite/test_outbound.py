"""Which proxy leads to a host, and who is trusted, by the names that programs know."""

from pathlib import Path

import pytest

from grite.errors import BratError
from grite.outbound import named_in
from tests.world.cases import looped

WAY = "http://proxy.example.test:3128"
PLAIN = "http://plain.example.test"
BOTH = {"HTTPS_PROXY": WAY, "HTTP_PROXY": PLAIN}


@looped(
    ({}, "https://a.test", ""),
    (BOTH, "https://a.test", WAY),
    (BOTH, "http://a.test", PLAIN),
    ({"HTTP_PROXY": PLAIN}, "https://a.test", ""),
    ({"https_proxy": WAY, "HTTPS_PROXY": PLAIN}, "https://a.test", WAY),
    ({"ALL_PROXY": WAY}, "https://a.test", WAY),
    ({"HTTPS_PROXY": "proxy.test:1"}, "https://a.test", "http://proxy.test:1"),
    *(  # none leads to this machine
        (
            {"HTTP_PROXY": PLAIN, "HTTPS_PROXY": "socks5://nowhere", "NO_PROXY": ""},
            to,
            "",
        )
        for host in (
            "localhost",
            "a.localhost",
            "127.0.0.1:80",
            "127.8.8.8",
            "[::1]:80",
        )
        for to in (f"http://{host}/x", f"https://{host}/x")
    ),
)
def test_a_proxy_leads_to_others(env: dict[str, str], url: str, proxy: str) -> None:
    assert named_in(env).proxy(url) == proxy


@looped(
    *("*", "a.corp.test", "A.CORP.test", "corp.test", ".corp.test", "*.corp.test"),
    *("other.test, corp.test", "other.test corp.test", "corp.test:443"),
)
def test_hosts_of_no_proxy_are_reached_directly(listed: str) -> None:
    def led(hosts: str) -> str:
        return named_in({**BOTH, "NO_PROXY": hosts}).proxy("https://a.corp.test/x")

    assert led(listed) == ""
    for other in ("corp.test:8443", "orp.test", "b.corp.test", "10.0.0.0/8", ""):
        assert led(other) == WAY
    way = named_in({**BOTH, "no_proxy": "10.0.0.0/8,192.0.2.7,2001:db8::/32"})
    assert way.proxy("https://10.1.2.3") == way.proxy("https://192.0.2.7:8443") == ""
    assert way.proxy("https://[2001:db8::5]/") == ""
    assert way.proxy("https://192.0.2.8") == WAY


def test_a_password_of_a_proxy_is_neither_shown_nor_handed_to_programs() -> None:
    secret = "me:made-up-pass@proxy.example.test"
    env = {"HTTPS_PROXY": f"http://{secret}", "HTTP_PROXY": PLAIN, "PIP_CERT": "/a@b"}
    way = named_in(env)
    assert "made-up-pass" not in repr(way)
    assert way.without_passwords() == {"HTTP_PROXY": PLAIN, "PIP_CERT": "/a@b"}

    way = named_in({"ALL_PROXY": f"socks5://{secret}"})
    with pytest.raises(BratError, match="of type socks5, but brat supports") as refused:
        way.proxy("https://a.test")
    assert "made-up-pass" not in str(refused.value)


def test_authorities_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    gone, wrong = tmp_path / "gone.pem", tmp_path / "wrong.pem"
    wrong.write_text("no certificate\n")

    for file in (gone, wrong):
        with pytest.raises(BratError, match=f"read from {file} .*correct SSL_CERT_FI"):
            named_in({"SSL_CERT_FILE": str(file)}).authorities()


def test_git_takes_the_same_way() -> None:
    files = {"SSL_CERT_FILE": "/ca.pem", "SSL_CERT_DIR": "/cas"}
    told = named_in({"HTTPS_PROXY": WAY, "NO_PROXY": "*.corp.test", **files})
    assert told.for_git() == {
        "https_proxy": WAY,
        "no_proxy": ".corp.test,localhost,127.0.0.1,::1",
        "GIT_SSL_CAINFO": "/ca.pem",
        "GIT_SSL_CAPATH": "/cas",
    }
    for direct in ({}, {**BOTH, "NO_PROXY": "*"}):
        assert named_in(direct).for_git() == {}
    own = named_in({"GIT_SSL_CAINFO": "/git.pem", "SSL_CERT_FILE": "/ca.pem"})
    assert own.for_git() == {"GIT_SSL_CAINFO": "/git.pem"}
