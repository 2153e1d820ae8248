"""Keys and certificates of agents, made with the library `cryptography`; only who makes one loads it."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from fairhold.units import SECOND

PublicKey = ec.EllipticCurvePublicKey
_CURVE = ec.SECP256R1
_RANDOM_BITS = 64
_LIFE = timedelta(days=10 * 365)
"""Of the authority, and of the service's own certificate, which goes with it."""
_BEFORE = timedelta(hours=1)
"""A certificate is good since so long before it was made: clocks differ."""


class Read(NamedTuple):
    """The name and the key of a certificate."""

    name: str
    key: PublicKey


class Signer:
    """A key that signs, and its own certificate."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key, self._certificate = key, certificate

    def sign(self, public: PublicKey, name: str, made: int, until: datetime | None, *, for_service: bool) -> str:
        """A certificate for a key, PEM. until: None = as long as the signer's own."""
        usage = ExtendedKeyUsageOID.SERVER_AUTH if for_service else ExtendedKeyUsageOID.CLIENT_AUTH
        builder = (
            x509.CertificateBuilder()
            .subject_name(_named("fairhold service" if for_service else "fairhold agent"))
            .issuer_name(self._certificate.subject)
            .public_key(public)
            .serial_number(made << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS))
            .not_valid_before(_time(made) - _BEFORE)
            .not_valid_after(until or self._certificate.not_valid_after_utc)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier(name)]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        return _pem(builder.sign(self._key, hashes.SHA256()))

    def certificate_text(self) -> str:
        """Its certificate, PEM."""
        return _pem(self._certificate)

    def key_text(self) -> str:
        """Its key, PEM."""
        return _key_text(self._key)


def new_signer(now: int) -> Signer:
    """A new authority."""
    key, name = ec.generate_private_key(_CURVE()), _named(f"fairhold agents {secrets.token_hex(4)}")
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=False, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_time(now) - _BEFORE)
        .not_valid_after(_time(now) + _LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return Signer(key, builder.sign(key, hashes.SHA256()))


def open_signer(key: bytes, certificate: bytes) -> Signer:
    """An authority from its files. Raises ValueError where they are none, or do not belong together."""
    private = serialization.load_pem_private_key(key, None)
    own = x509.load_pem_x509_certificate(certificate)
    if not isinstance(private, ec.EllipticCurvePrivateKey) or private.public_key() != own.public_key():
        raise ValueError("its key and its certificate do not belong together")
    return Signer(private, own)


def new_key() -> tuple[PublicKey, str]:
    """A new key, and its text as PEM."""
    key = ec.generate_private_key(_CURVE())
    return key.public_key(), _key_text(key)


def request_of(key: str) -> str:
    """A request for a certificate, which proves that who makes it has the key; PEM in and out."""
    private = serialization.load_pem_private_key(key.encode(), None)
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    builder = x509.CertificateSigningRequestBuilder().subject_name(_named("fairhold agent"))
    return builder.sign(private, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def key_of_request(text: str) -> PublicKey:
    """The key of a request. Raises ValueError where who made it has not shown that it is his."""
    request = x509.load_pem_x509_csr(text.encode())
    key = request.public_key()
    try:
        is_proved = request.is_signature_valid
    except InvalidSignature:
        is_proved = False
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, _CURVE) or not is_proved:
        raise ValueError("its key is of another kind, or it is not signed with it")
    return key


def read(certificate: bytes) -> Read:
    """The name and key of a certificate of an agent, DER."""
    found = x509.load_der_x509_certificate(certificate)
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    key = found.public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    return Read(names.get_values_for_type(x509.UniformResourceIdentifier)[0], key)


def made_at(serial: int) -> int:
    """The instant at which a certificate was made, of its number."""
    return serial >> _RANDOM_BITS


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _time(instant: int) -> datetime:
    return datetime.fromtimestamp(instant // SECOND, UTC)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_text(key: ec.EllipticCurvePrivateKey) -> str:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
