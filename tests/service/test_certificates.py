"""A certificate that is renewed while the service runs."""

from __future__ import annotations

import asyncio
import logging
import ssl
import subprocess
from typing import TYPE_CHECKING

import httpx
import pytest

from fairhold.errors import InputError
from fairhold.service.certificates import Certificate
from tests.engines.agents.fake import until
from tests.service.served import here, own_certificate, serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.service.support import Bank


def renewed(place: Path, kind: str) -> None:
    """Another certificate in the place of the first, with another key."""
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=renewed", "-newkey", *kind.split()]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(place / "new.key"), "-out", str(place / "new")]
    subprocess.run(command, check=True, capture_output=True)
    (place / "new.key").replace(place / "key.pem")
    (place / "new").replace(place / "cert.pem")


def told(url: str) -> bytes:
    """The certificate that a new connection is shown."""
    host, _, port = url.removeprefix("https://").partition(":")
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate((host, int(port))))


async def until_told(url: str, before: bytes) -> bytes:
    """The certificate that is shown when it is another than before."""
    await asyncio.to_thread(until, lambda: told(url) != before)
    return await asyncio.to_thread(told, url)


@pytest.mark.parametrize("kind", ["ec -pkeyopt ec_paramgen_curve:prime256v1", "rsa:2048"])
def test_a_certificate_that_was_renewed_is_shown_and_a_bad_one_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    certificate, key = own_certificate(tmp_path)
    caplog.set_level(logging.INFO, "fairhold.service")

    async def work(bank: Bank, url: str) -> None:
        first = await asyncio.to_thread(told, url)
        trust = ssl.create_default_context(cafile=str(certificate))
        async with httpx.AsyncClient(verify=trust, base_url=url, headers=bank.head, timeout=10) as client:
            assert (await client.get("/v1/health")).status_code == 200
            renewed(tmp_path, kind)
            second = await until_told(url, first)
            assert second == ssl.PEM_cert_to_DER_cert(certificate.read_text())
            assert (await client.get("/v1/health")).status_code == 200, "what is connected goes on"
        good = certificate.read_bytes(), key.read_bytes()
        certificate.write_bytes(good[0][: len(good[0]) // 2])
        await asyncio.to_thread(until, lambda: "stays in force" in caplog.text)
        assert await asyncio.to_thread(told, url) == second
        key.unlink()
        await asyncio.to_thread(until, lambda: caplog.text.count("stays in force") >= 2)
        assert await asyncio.to_thread(told, url) == second
        renewed(tmp_path, kind)
        assert await until_told(url, second) != first
        async with here(bank) as client:
            await client.post("/v1/stop")

    assert serving(tmp_path, work, certificate=certificate, key=key, certificate_look=0.05) == "leave"


def test_files_that_do_not_belong_together_are_refused_at_the_start(tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path)
    Certificate(certificate, key).look()
    old = key.read_bytes()
    renewed(tmp_path, "rsa:2048")
    key.write_bytes(old)
    with pytest.raises(InputError, match="tls-files"):
        Certificate(certificate, key)
