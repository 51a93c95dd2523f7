"""This machine's way to others: the proxy that leads to a host, and who is trusted.

Both are in the environment, by the names that most programs know. No proxy leads to
this machine itself. Without `SSL_CERT_FILE` and `SSL_CERT_DIR` the system's own
authorities are trusted.
https://everything.curl.dev/usingcurl/proxies/env.html
https://docs.openssl.org/3.0/man7/openssl-env/
"""

import base64
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from grite.errors import BratError, repr_without

if TYPE_CHECKING:
    from ssl import SSLContext  # takes 10 ms: most processes need none

_UPPER: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
PROXIES: Final = (*_UPPER, *(name.lower() for name in _UPPER))
TRUST: Final = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"),
    *("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT"),
)
"""Where programs of many kinds look for authorities to trust; paths, no secrets."""
LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}


class Outbound(Struct, frozen=True):
    """What the environment says about the way to others."""

    variables: dict[str, str]
    """Those of `PROXIES` and `TRUST` that are set."""

    def __repr__(self) -> str:
        return repr_without(self, "variables")  # a proxy's address may hold a password

    def proxy(self, url: str) -> str:
        """Return the address of the proxy that leads to `url`; empty: none does.

        Raises `BratError`: it is of a kind that brat does not speak to.
        """
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
        name = f"{parts.scheme}_proxy"
        found = self._value(name) or self._value("all_proxy")
        if not found or is_local(host):
            return ""
        if any(_covers(entry, host, port) for entry in self._direct()):
            return ""
        address = found if "://" in found else f"http://{found}"
        kind = address.partition("://")[0].lower()
        if kind not in _PORTS:
            raise BratError(
                f"{name.upper()} or ALL_PROXY routes {host} through a proxy of type "
                f"{kind}, but brat supports only http and https proxies: use one of "
                f"those, or add {host} to NO_PROXY"
            )
        return address

    def authorities(self) -> "SSLContext":
        """Return the settings of TLS clients: certificate and host are verified.

        Raises `BratError`: what the environment names cannot be read.
        """
        return _authorities(*map(self.variables.get, TRUST[:2]))

    def for_git(self) -> dict[str, str]:
        """Return the variables by which git takes the same way.

        https://git-scm.com/docs/git#_other
        """
        direct = [entry.removeprefix("*") for entry in self._direct()]
        names = ("http_proxy", "https_proxy", "all_proxy") if all(direct) else ()
        told = {name: self._value(name) for name in names}
        if any(told.values()):
            told["no_proxy"] = ",".join((*direct, *LOCAL_NAMES))
        told["GIT_SSL_CAINFO"] = self._value("GIT_SSL_CAINFO", "SSL_CERT_FILE")
        told["GIT_SSL_CAPATH"] = self._value("SSL_CERT_DIR")
        return {name: value for name, value in told.items() if value}

    def without_passwords(self) -> dict[str, str]:
        """Return the variables, but no proxy whose address holds a password."""
        return {n: v for n, v in self.variables.items() if "@" not in v or n in TRUST}

    def _direct(self) -> list[str]:
        return self._value("no_proxy").replace(",", " ").split()

    def _value(self, *names: str) -> str:
        """Return the first that is set, in small letters first."""
        both = (each for name in names for each in (name, name.upper()))
        return next(filter(None, map(self.variables.get, both)), "")


def here() -> Outbound:
    return named_in(os.environ)  # noqa: TID251  every process has its own way


def named_in(env: Mapping[str, str]) -> Outbound:
    return Outbound({n: env[n] for n in (*PROXIES, *TRUST) if env.get(n)})


@cache
def _authorities(file: str | None, folder: str | None) -> "SSLContext":
    import ssl

    if not file and not folder:
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=file, capath=folder)
    except OSError as error:
        raise BratError(
            f"the trusted certificates cannot be read from {file or folder} "
            f"({error.strerror or error}): correct SSL_CERT_FILE and SSL_CERT_DIR, or "
            "unset them to use the system certificates"
        ) from error


def proxy_word(proxy: str) -> str:
    """Return the value of `Proxy-Authorization`; empty: the proxy wants none."""
    parts = urlsplit(proxy)
    if not parts.username:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def is_local(host: str) -> bool:
    """Whether a host is this machine itself, by its name or number."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def names_this_machine(host: str) -> bool:
    """Whether a request's `Host` is a name of this machine.

    Another one means that a page of the web has been led here by its own name.
    """
    try:
        return is_local(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False


def _covers(entry: str, host: str, port: int) -> bool:
    """Whether a NO_PROXY entry covers a host: by name, domain, number or network."""
    is_split = entry.count(":") == 1
    name, _, wanted = entry.partition(":") if is_split else (entry, "", "")
    if wanted not in {"", str(port)}:
        return False
    with suppress(ValueError):
        return ip_address(host) in ip_network(name.strip("[]"), strict=False)
    domain = name.lower().removeprefix("*").removeprefix(".")
    return not domain or host == domain or host.endswith(f".{domain}")
