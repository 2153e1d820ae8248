"""What can be set about the HTTP side of a service."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from pathlib import Path

PORT = 7878
KIB, MIB = 1024, 1024 * 1024
_OTHER_FILES = 256
"""Open files for the store, the agents and the outputs."""
_LEAST_CLIENTS = 8
"""Clients for whom there are files in any case."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How much one request may ask for; a fault names the limit as it is called here. Sizes are bytes.

    head        : of a request: its line and its headers
    body        : of a request
    values      : in a body of more than 64 KiB, all together
    argv        : all words of a command together; argument: one word, or one variable of the environment
    environment : all variables together
    stdin       : after base64
    plan        : text of a plan
    after       : jobs that one job waits for
    labels      : of one job
    clients     : connections at once, by TCP and by the Unix socket each
    streams     : followers of events at once
    open_files  : of the service; what the system allows where that is less
    silence     : seconds in which a client has to go on with what it sends or takes
    """

    head: int = 64 * KIB
    body: int = 16 * MIB
    values: int = 100_000
    argv: int = 512 * KIB
    argument: int = 128 * KIB - 1
    environment: int = 512 * KIB
    stdin: int = 8 * MIB
    plan: int = 8 * MIB
    after: int = 1_000
    labels: int = 64
    clients: int = 2_000
    streams: int = 1_000
    open_files: int = 16_384
    silence: float = 30.0

    @property
    def most_clients(self) -> tuple[str, int]:
        """How many clients there may be at once, as far as open files go; in front, the limit that says so."""
        by_files = max(_LEAST_CLIENTS, self.open_files - _OTHER_FILES)
        return ("clients", self.clients) if self.clients <= by_files else ("open_files", by_files)


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """Where a service listens, and for whom.

    directory   : state directory, absolute; `token`, `api.sock` and `service.json` stand there
    host, port  : address; port 0 = any that is free
    certificate, key : files in PEM for TLS; without them only a loopback address is listened on
    names       : further names under which clients call this service in `Host`
    socket      : path of a further Unix socket, which all users of this machine may open; None = there is none
    pointers    : links to `service.json` to be made, where clients look for a service
    viewer_token : file with the token of those who may look and change nothing, None = there is none
    oidc_secret : file with the secret by which the sign-in provider knows this service, None = it has none
    stands_by   : where another leads the same store, this service waits for its turn
    smtp_secret : file with the password for the mail server that the access document names, None = there is none
    is_observing : others decide, and only the plan may be changed; has_pods: its jobs are a cluster's pods
    limits      : of one request
    beat    : seconds between two signs of life on a stream of events
    patience    : seconds that requests at hand are given when the service stops
    certificate_look : seconds between two looks whether the files of the certificate have changed
    """

    directory: Path
    host: str = "127.0.0.1"
    port: int = PORT
    certificate: Path | None = None
    key: Path | None = None
    names: tuple[str, ...] = ()
    pointers: tuple[Path, ...] = ()
    viewer_token: Path | None = None
    oidc_secret: Path | None = None
    stands_by: bool = False
    smtp_secret: Path | None = None
    is_observing: bool = False
    has_pods: bool = False
    socket: Path | None = None
    limits: RequestLimits = field(default_factory=RequestLimits)
    beat: float = 15.0
    patience: float = 5.0
    certificate_look: float = 10.0

    def check(self) -> None:
        """Refuse to listen where others could read the tokens on their way. InputError `tls-needed`."""
        if (self.certificate is None) != (self.key is None):
            raise InputError([Fault("tls-needed", "TLS needs a certificate and its key", "name the files of both")])
        if self.certificate is None and not is_loopback(self.host):
            what = f"`{self.host}` is not a loopback address, and there is no TLS certificate"
            mend = "give a certificate and its key, or listen on 127.0.0.1"
            raise InputError([Fault("tls-needed", what, mend)])

    @property
    def is_secure(self) -> bool:
        """Whether TLS is spoken."""
        return self.certificate is not None

    def own_names(self) -> frozenset[str]:
        """What clients may write in `Host`, without port, in small letters."""
        names = {"localhost", "127.0.0.1", "[::1]", self.host, f"[{self.host}]", *self.names}
        if not is_loopback(self.host):
            names |= {socket.gethostname(), socket.getfqdn()}
        return frozenset(name.lower() for name in names)


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
