"""A provider that runs as a process of its own, and somebody with a browser who signs in there."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, Self

import httpx

from tests.docs.console import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "open sesame"


class RunningProvider:
    """The provider of `tests.provider.site`.

    seconds : that its ID tokens are good
    """

    def __init__(self, folder: Path, *, seconds: int = 600) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._seconds = folder, seconds
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.new_key()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def issuer(self) -> str:
        return f"{self.url}/o"

    def new_key(self) -> None:
        """From the next start on it signs with another key."""
        command = ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
        subprocess.run([*command, "-out", str(self.folder / "key.pem")], check=True, capture_output=True)

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.provider.site", str(self.folder), str(self.port)]
        with (self.folder / "log").open("ab") as log:
            more = {"ID_TOKEN_SECONDS": str(self._seconds)}
            self._process = subprocess.Popen(command, cwd=ROOT, env=os.environ | more, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while not self._answers():
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.issuer}/.well-known/openid-configuration").status_code == 200
        except httpx.HTTPError:
            return False

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def forget_sign_ins(self) -> None:
        """As an administrator of the provider ends all sessions: no refresh token counts any more."""
        with closing(sqlite3.connect(self.folder / "db.sqlite", timeout=20)) as connection, connection:
            connection.execute("DELETE FROM oauth2_provider_refreshtoken")

    # What the provider gives without this service in between

    def document(self, **more: object) -> str:
        """Lines of an access document."""
        lines = {"issuer": self.issuer, "client_id": "fairhold", "name": "Bank SSO", "clock_skew": "0s"} | more
        return "oidc:\n" + "".join(f"  {key}: {value}\n" for key, value in lines.items())

    def device(self, client: str = "fairhold") -> dict[str, Any]:
        form = {"client_id": client, "scope": "openid profile"}
        return dict(httpx.post(f"{self.issuer}/device-authorization/", data=form).json())

    def tokens(self, user: str, client: str = "fairhold") -> dict[str, Any]:
        """Tokens of somebody, by a device that he lets in."""
        device = self.device(client)
        Visitor(self, user).answer(device["user_code"])
        grant = "urn:ietf:params:oauth:grant-type:device_code"
        form = {"grant_type": grant, "client_id": client, "device_code": device["device_code"]}
        answer = httpx.post(f"{self.issuer}/token/", data=form)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


class Visitor:
    """Somebody with a browser at the provider; its forms are filled in as he would."""

    def __init__(self, provider: RunningProvider, user: str) -> None:
        self._provider, self._user = provider, user
        self._http = httpx.Client()

    def answer(self, code: str, action: str = "accept") -> None:
        """Let a device in, or not."""
        page = self._signed_in(f"{self._provider.issuer}/device/?user_code={code}")
        page = self._send(page, user_code=code)
        assert "authorized" in self._send(page, action=action).text or action == "deny"

    def comes_back(self, where: str) -> str:
        """Sign in at an address of the provider; the address to which it leads back."""
        page = self._signed_in(where)
        assert page.is_redirect, page.text
        return page.headers["location"]

    def _signed_in(self, where: str) -> httpx.Response:
        page = self._open(where)
        if "password" in page.text:
            page = self._send(page, username=self._user, password=PASSWORD)
        return page

    def _send(self, page: httpx.Response, **fields: str) -> httpx.Response:
        hidden = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert hidden, page.text
        form = {"csrfmiddlewaretoken": hidden[1], **fields}
        return self._follow(self._http.post(page.url, data=form, headers={"Referer": str(page.url)}))

    def _open(self, where: str) -> httpx.Response:
        return self._follow(self._http.get(where))

    def _follow(self, page: httpx.Response) -> httpx.Response:
        """Redirects within the provider."""
        while page.next_request is not None and str(page.next_request.url).startswith(self._provider.url):
            page = self._http.send(page.next_request)
        return page
