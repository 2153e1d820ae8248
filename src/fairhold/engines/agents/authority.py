"""The authority of the agents: signs certificates for the service and its agents, lets hosts enrol, and revokes.

All that it keeps is in the folder `authority` of the state directory, for the service's user alone. Who has the key in
there can pass for any host and for the service.
"""

from __future__ import annotations

import json
import secrets
import ssl
import threading
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

from fairhold.engines.agents import certifying
from fairhold.engines.agents.link import NotEnrolledError
from fairhold.engines.private import drafted
from fairhold.errors import Fault, InputError
from fairhold.ports import StoreError
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

NAME = "authority"
"""Of the folder, in the state directory."""
CODE_SPAN = 3600 * SECOND
"""How long a code may be used."""
MOST_CODES = 1000
_KEY, _CERTIFICATE, _SERVICE, _REGISTER = "key.pem", "certificate.pem", "service.pem", "register.json"
_HOST = "fairhold:host:"
_RENEWED = 3
"""A certificate is renewed when one part in so many of its life is left."""


class Certified(NamedTuple):
    """What a certificate says: of which host, made when, and when it is to be renewed; instants."""

    host: str
    made: int
    renew_at: int


class Authority:
    """Opens the folder, and makes what is missing. Any thread may call.

    now  : instant, of the time of day
    span : how long certificates of agents are good

    Raises InputError where the folder cannot be used.
    """

    def __init__(self, directory: Path, now: Callable[[], int], span: int = 90 * 86_400 * SECOND) -> None:
        self._place, self._now, self._span = directory / NAME, now, span
        self._lock = threading.Lock()
        self.revision = 0
        """Rises with every certificate that counts no more."""
        try:
            self._place.mkdir(mode=0o700, exist_ok=True)
            self._signer = self._open_signer()
            self._register: dict[str, Any] = self._read()
            self.context = self._context()
        except (OSError, ValueError, ssl.SSLError) as error:
            why = getattr(error, "strerror", None) or str(error)
            what, mend = (
                f"the authority of the agents cannot be used: {why}",
                "bring it back from a backup, or remove it",
            )
            mend += ": a new one is made, and every host has to enrol again"
            raise InputError([Fault("agent-authority", what, mend, file=str(self._place))]) from error

    def invite(self, host: str) -> str:
        """A code with which a host can enrol, once, soon. It also says by which service: a host can tell it by that."""
        secret = secrets.token_hex(16)
        with self._lock:
            until = self._now() + CODE_SPAN
            codes = {key: each for key, each in self._register["codes"].items() if each["until"] > self._now()}
            while len(codes) >= MOST_CODES:
                del codes[next(iter(codes))]
            codes[_digest(secret)] = {"host": host, "until": until}
            self._write(codes=codes)
        return f"{secret}.{self._mark}"

    def enrol(self, host: str, code: str, request: str) -> str:
        """The certificate for the key of a request, as PEM; the code is used up. Raises NotEnrolledError."""
        with self._lock:
            key = _digest(code.partition(".")[0])
            known = self._register["codes"].get(key)
            if known is None or known["until"] <= self._now():
                raise NotEnrolledError("the code is not one of this service, was used, or is too old")
            if known["host"] != host:
                raise NotEnrolledError("the code was made for another host")
            try:
                public = certifying.key_of_request(request)
            except ValueError as error:
                raise NotEnrolledError(f"the request for a certificate is none: {error}") from error
            codes = {each: value for each, value in self._register["codes"].items() if each != key}
            self._write(codes=codes)
            return self._sign(host, public)

    def renewed(self, certificate: bytes) -> str:
        """Another certificate for the host and the key of one that counts; DER in, PEM out."""
        found = certifying.read(certificate)
        with self._lock:
            return self._sign(unquote(found.name.removeprefix(_HOST)), found.key)

    def revoke(self, host: str) -> int:
        """Let all certificates count no more that a host was given so far; the instant."""
        with self._lock:
            at = self._moment(host)
            codes = {key: each for key, each in self._register["codes"].items() if each["host"] != host}
            self._write(codes=codes, revoked={**self._register["revoked"], host: at})
            self.revision += 1
        return at

    def check(self, peer: Mapping[str, Any]) -> Certified:
        """What the certificate of a peer says, which TLS has found to be ours. Raises NotEnrolledError."""
        if not peer:
            raise NotEnrolledError("it has shown no certificate; a host gets one by `fairhold agent enrol`")
        told = peer.get("subjectAltName", ())
        names = [value for kind, value in told if kind == "URI" and value.startswith(_HOST)]
        if len(names) != 1:
            raise NotEnrolledError("its certificate is not one of a host")
        host, made = unquote(names[0].removeprefix(_HOST)), certifying.made_at(int(peer["serialNumber"], 16))
        if made <= self._register["revoked"].get(host, 0):
            raise NotEnrolledError(f"the certificate of {host} was revoked; enrol it again with a new code")
        ends = int(ssl.cert_time_to_seconds(peer["notAfter"])) * SECOND
        return Certified(host, made, ends - (ends - made) // _RENEWED)

    @property
    def certificate(self) -> str:
        """Its own certificate, PEM: what agents believe."""
        return (self._place / _CERTIFICATE).read_text("ascii")

    def _sign(self, host: str, public: certifying.PublicKey) -> str:
        made = self._moment(host)
        until = _time(made) + timedelta(microseconds=self._span)
        return self._signer.sign(public, f"{_HOST}{quote(host, safe='')}", made, until, for_service=False)

    def _moment(self, host: str) -> int:
        """Now, and behind all that was revoked of a host, also where the clock was set back."""
        return max(self._now(), int(self._register["revoked"].get(host, 0)) + 1)

    def _open_signer(self) -> certifying.Signer:
        key, certificate = self._place / _KEY, self._place / _CERTIFICATE
        if not key.exists():
            signer = certifying.new_signer(self._now())
            _put(certificate, signer.certificate_text())
            _put(key, signer.key_text())  # last: with it the authority is whole
        return certifying.open_signer(key.read_bytes(), certificate.read_bytes())

    def _context(self) -> ssl.SSLContext:
        """What the service shows to agents, and believes."""
        own = self._place / _SERVICE
        if not own.exists():
            public, key = certifying.new_key()
            text = self._signer.sign(public, "fairhold:service", self._now(), None, for_service=True)
            _put(own, key + text)
        self._mark = mark_of(ssl.PEM_cert_to_DER_cert(_certificate_in(own.read_text("ascii"))))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.verify_mode = ssl.CERT_OPTIONAL  # a host that enrols has none yet
        context.load_verify_locations(self._place / _CERTIFICATE)
        context.load_cert_chain(own)
        context.num_tickets = 0  # every connection shows its certificate
        return context

    def _read(self) -> dict[str, Any]:
        path = self._place / _REGISTER
        match json.loads(path.read_bytes()) if path.exists() else {"codes": {}, "revoked": {}}:
            case {"codes": dict(codes), "revoked": dict(revoked)}:
                return {"codes": codes, "revoked": revoked}
        raise ValueError(f"{path.name} is no register")

    def _write(self, **changed: Any) -> None:  # noqa: ANN401 - parts of the register
        """Keep another register; what cannot be written does not count. Raises StoreError."""
        register = {**self._register, **changed}
        try:
            _put(self._place / _REGISTER, json.dumps(register))
        except OSError as error:
            what = f"what hosts may enrol, and which may not, cannot be written to {self._place}"
            raise StoreError(f"{what}: {error.strerror or error}; nothing was changed") from error
        self._register = register


def mark_of(certificate: bytes) -> str:
    """By which the code of a service tells it, of the service's certificate as DER."""
    return sha256(certificate).hexdigest()[:32]


def _certificate_in(text: str) -> str:
    return text[text.index("-----BEGIN CERTIFICATE-----") :]


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _time(instant: int) -> datetime:
    return datetime.fromtimestamp(instant // SECOND, UTC)


def _put(path: Path, text: str) -> None:
    with drafted(path, text.encode()) as draft:
        draft.replace(path)
