"""Which hosts a list lets an agent reach."""

from runner.proxy.proxy_protocol import (
    allows_host,
    is_outside,
    local_services,
    reachable_hosts,
)
from tests.world.cases import looped

LISTED = ("pypi.org", "*.npmjs.org", "registry.example.org:8443", "127.0.0.1:5432")


@looped(
    ("pypi.org", 443, True),
    ("PyPI.org.", 80, True),
    ("registry.npmjs.org", 443, True),
    ("a.b.npmjs.org", 443, True),
    ("registry.example.org", 8443, True),
    ("127.0.0.1", 5432, True),
    ("files.pypi.org", 443, False),
    ("pypi.org.evil.example", 443, False),
    ("evilpypi.org", 443, False),
    ("pypi.org", 22, False),
    ("npmjs.org", 443, False),
    ("evilnpmjs.org", 443, False),
    ("registry.example.org", 443, False),
    ("127.0.0.1", 80, False),
    ("", 443, False),
)
def test_what_is_listed_is_let_through_and_nothing_else(
    host: str, port: int, *, may: bool
) -> None:
    assert allows_host(LISTED, host, port) is may


@looped(
    *("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"),  # noqa: S104  none is bound
    *("169.254.169.254", "fe80::1%eth0", "::ffff:169.254.169.254", "224.0.0.1"),
    *("168.63.129.16", "192.0.0.192", "fd00:ec2::254", "100.100.100.200"),
    *("64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::169.254.169.254"),
    *("64:ff9b:1::808:808", "10.0.0.1", "192.168.1.1", "ff0e::1"),
    *("fec0::2", "::ffff:0:169.254.169.254", "5f00::1"),
)
def test_no_name_may_lead_to_this_machine_its_network_or_its_clouds_secrets(
    address: str,
) -> None:
    assert not is_outside(address)
    public = ("8.8.8.8", "2606:4700::1", "64:ff9b::808:808", "2002:808:808::")
    assert all(map(is_outside, public))


def test_nothing_listed_is_nothing_but_where_the_model_is_not_known() -> None:
    assert reachable_hosts(None, by_default=False) == ()
    assert reachable_hosts(None, by_default=True) is None
    assert reachable_hosts(("pypi.org", "*"), by_default=False) is None
    assert reachable_hosts((), by_default=True) == ()
    listed = ("localhost:5432", "127.0.0.1:6379", "pypi.org:8443", "localhost:0")
    services = local_services((*listed, "localhost:99999", "localhost"))
    assert services == (5432, 6379), "of this machine"
