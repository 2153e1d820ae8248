"""What a provider gives tokens for: a code of a browser, a device that somebody let in, a refresh token."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from fairhold.errors import Fault, InputError
from fairhold.service.sign_in.asking import ProviderError, ask
from fairhold.service.sign_in.checking import is_of_provider

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairhold.access.provider import Provider
    from fairhold.service.sign_in.keys import Directory, Known

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
PENDING = frozenset({"authorization_pending", "slow_down"})
"""Refusals of a device that only mean: not yet."""
_MOST_SECRET = 4_096
_MOST_SECONDS = 3_600
_MEND = {
    "access_denied": ("sign-in-denied", "somebody said no on the provider's page", "sign in again"),
    "expired_token": ("sign-in-over", "the code was not used in time", "sign in again: `fairhold login`"),
    "invalid_grant": ("sign-in-over", "the sign-in has ended at the provider", "sign in again"),
}
"""What a provider says that people can do something about; the rest is the administrator's."""


class Tokens(NamedTuple):
    """What a provider has given.

    token   : that says who somebody is
    refresh : for which it gives another, empty = it does not
    """

    token: str
    refresh: str


class NotYetError(Exception):
    """A device has to wait; is_too_fast: and to ask less often."""

    def __init__(self, *, is_too_fast: bool) -> None:
        super().__init__()
        self.is_too_fast = is_too_fast


class Granting:
    """Asks a provider for tokens, as the client that it knows.

    secret : file with the client's secret, None = the client has none
    """

    def __init__(self, directory: Directory, secret: Path | None) -> None:
        self._directory, self._secret = directory, secret

    async def begin(self, provider: Provider, back: str, state: str, nonce: str, verifier: str) -> str:
        """The address at which a browser signs in, and comes back with a code. Raises ProviderError, InputError."""
        known = await self._directory.addresses(provider)
        where = _of(known, "authorization_endpoint")
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": provider.client_id,
            "redirect_uri": back,
            "scope": " ".join(provider.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{where}{'&' if '?' in where else '?'}{urlencode(asked)}"

    async def by_code(self, provider: Provider, code: str, back: str, verifier: str) -> Tokens:
        """Tokens for a code. Raises ProviderError; InputError where they are refused."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier}
        return await self._tokens(provider, form)

    async def begin_device(self, provider: Provider) -> dict[str, Any]:
        """What a device shows, and asks again with; times are seconds. Raises as `by_code`."""
        known = await self._directory.addresses(provider)
        said = await self._send(known, "device_authorization_endpoint", provider, {"scope": " ".join(provider.scopes)})
        told = {name: said.get(name) for name in ("device_code", "user_code", "verification_uri")}
        whole = said.get("verification_uri_complete")
        if not all(isinstance(each, str) and each.isprintable() and each for each in told.values()):
            raise ProviderError("does not say what is to be shown to sign in")
        if not str(told["verification_uri"]).startswith(("https://", "http://")):
            raise ProviderError("gives no address to sign in at")
        return {
            **told,
            "verification_uri_complete": whole if isinstance(whole, str) and whole.isprintable() else None,
            "interval": _seconds(said.get("interval"), 5),
            "expires_in": _seconds(said.get("expires_in"), 600),
        }

    async def by_device(self, provider: Provider, device: str) -> Tokens:
        """Tokens for a device that was let in. Raises as `by_code`; NotYetError."""
        return await self._tokens(provider, {"grant_type": DEVICE, "device_code": device})

    async def by_refresh(self, provider: Provider, refresh: str) -> Tokens:
        """Other tokens for a refresh token, which may be used up then. Raises as `by_code`."""
        found = await self._tokens(provider, {"grant_type": "refresh_token", "refresh_token": refresh})
        return found if found.refresh else found._replace(refresh=refresh)

    async def revoke(self, provider: Provider, refresh: str) -> None:
        """Let a refresh token count no more, where the provider can. Raises ProviderError."""
        known = await self._directory.addresses(provider)
        if "revocation_endpoint" in known.addresses:
            form, account = self._as_client(known, provider, {"token": refresh, "token_type_hint": "refresh_token"})
            await ask(known.addresses["revocation_endpoint"], form, account, is_document=False)

    async def _tokens(self, provider: Provider, form: Mapping[str, str]) -> Tokens:
        known = await self._directory.addresses(provider)
        said = await self._send(known, "token_endpoint", provider, form)
        found = [said.get(name) for name in ("id_token", "access_token")]
        token = next((each for each in found if isinstance(each, str) and is_of_provider(each)), "")
        refresh = said.get("refresh_token")
        if not token:
            raise ProviderError("gives no token that says who somebody is: is `openid` among its scopes?")
        return Tokens(token, refresh if isinstance(refresh, str) and refresh.isascii() else "")

    async def _send(self, known: Known, name: str, provider: Provider, form: Mapping[str, str]) -> dict[str, Any]:
        where = _of(known, name)
        status, said = await ask(where, *self._as_client(known, provider, form))
        if status == 200:
            return said
        error = said.get("error")
        if error in PENDING:
            raise NotYetError(is_too_fast=error == "slow_down")
        if error in _MEND:
            code, what, mend = _MEND[error]
            raise InputError([Fault(code, what, mend)])
        raise ProviderError(
            f"refuses with {status}, {str(error)[:100]!r}: {str(said.get('error_description'))[:200]!r}"
        )

    def _as_client(
        self, known: Known, provider: Provider, form: Mapping[str, str]
    ) -> tuple[dict[str, str], tuple[str, str] | None]:
        """A form of our client, and how it proves who it is."""
        secret = self._client_secret()
        if secret and known.basic:
            return dict(form), (quote(provider.client_id, safe=""), quote(secret, safe=""))
        own = {"client_id": provider.client_id} | ({"client_secret": secret} if secret else {})
        return dict(form) | own, None

    def _client_secret(self) -> str:
        """Read anew each time, as others may write another into the file."""
        if self._secret is None:
            return ""
        try:
            with self._secret.open("rb") as file:
                return file.read(_MOST_SECRET).decode("ascii").strip()
        except (OSError, ValueError) as error:
            raise ProviderError(f"cannot be asked: the client's secret in {self._secret} cannot be read") from error


def _of(known: Known, name: str) -> str:
    if name not in known.addresses:
        what = f"the sign-in provider names no `{name}`, so that this way to sign in is closed"
        raise InputError([Fault("no-provider", what, "have it opened at the provider, or use a token of your own")])
    return known.addresses[name]


def _seconds(value: object, usual: int) -> int:
    """A time that a provider says; the usual one where it says none, or one that cannot be meant."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= _MOST_SECONDS:
        return usual
    return value
