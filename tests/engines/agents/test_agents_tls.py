"""Agents that prove by certificates who they are: enrolment, renewal, revocation; and strangers at their door."""

from __future__ import annotations

import errno
import socket
import ssl
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509

from fairhold.agent import tunnel
from fairhold.agent.frames import AGENT, Channel
from fairhold.agent.link import Address
from fairhold.agent.tunnel import SECRET, Tunnel, TunnelError, context_of
from fairhold.engines.agents import certifying
from fairhold.engines.agents.authority import CODE_SPAN, Authority
from fairhold.engines.agents.enrolling import enrol
from fairhold.engines.agents.link import NotEnrolledError
from fairhold.engines.agents.questions import Question
from fairhold.engines.agents.settings import AgentSettings
from fairhold.engines.agents.turned_away import MOST_KINDS, PERIOD, TurnedAway
from fairhold.errors import InputError
from fairhold.orchestrator.events import MachineReported, MachineSilent
from fairhold.ports import StoreError
from fairhold.units import SECOND
from tests.engines.agents.fake import PATIENT, Desk, FakeAgent, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DAY = 86_400 * SECOND


class Watch:
    """The time of day, which a test may set forward."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        return time.time_ns() // 1000 + self.ahead


class SecureAgent(FakeAgent):
    """An agent that speaks TLS, with an identity or with none."""

    def __init__(self, to: tuple[str, int], identity: Path | None) -> None:
        self.socket = socket.create_connection(to, PATIENT)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if identity is None else context_of(str(identity))
        context.check_hostname = False
        if identity is None:
            context.verify_mode = ssl.CERT_NONE
        self.tunnel = Tunnel(context, is_service=False)
        self.channel = Channel(SECRET, AGENT)
        self._heard: deque[dict[str, Any]] = deque()

    def greet(self) -> SecureAgent:
        self.socket.sendall(self.tunnel.seal(self.channel.greeting))
        while not self.channel.is_open:
            self._receive()
        return self

    def _receive(self) -> None:
        data = self.socket.recv(1 << 16)
        assert data, "the service closed the connection"
        self._heard += self.channel.feed(self.tunnel.feed(data))
        self.socket.sendall(self.tunnel.take())

    def say(self, what: str, **fields: Any) -> None:
        self.socket.sendall(self.tunnel.seal(self.channel.seal({"type": what, **fields})))

    def hear(self, what: str) -> dict[str, Any]:
        while not self._heard:
            self._receive()
        message = self._heard.popleft()
        assert message.pop("type") == what, message
        return message


class House:
    """A desk with an authority, and hosts that have enrolled."""

    def __init__(self, place: Path, **more: Any) -> None:
        self.place, self.watch = place, Watch()
        self.authority = Authority(place, self.watch)
        self.desk = Desk(
            place,
            address=("127.0.0.1", 0),
            secure_address=("127.0.0.1", 0),
            authority=self.authority,
            now=self.watch,
            **more,
        )
        assert self.desk.agents.secure_address is not None
        self.at = self.desk.agents.secure_address
        self.opened: list[FakeAgent] = []

    @property
    def address(self) -> Address:
        return Address(f"tls:{self.at[0]}:{self.at[1]}")

    def enrolled(self, host: str, folder: str = "") -> Path:
        identity = self.place / (folder or f"of-{host}")
        enrol(identity, self.address, host, self.authority.invite(host))
        return identity

    def agent(self, identity: Path | None, host: str) -> SecureAgent:
        self.opened.append(made := SecureAgent(self.at, identity))
        made.introduce(host)
        return made

    def close(self) -> None:
        for each in self.opened:
            each.close()
        self.desk.agents.close()


@pytest.fixture
def open_house(tmp_path: Path) -> Iterator[Callable[..., House]]:
    made: list[House] = []

    def opened(**more: Any) -> House:
        made.append(House(tmp_path, **more))
        return made[-1]

    yield opened
    for house in made:
        house.close()


@pytest.fixture
def house(open_house: Callable[..., House]) -> House:
    return open_house()


def test_a_host_that_has_enrolled_is_let_in_and_its_key_stays_with_it(house: House) -> None:
    identity = house.enrolled("h1")
    agent = house.agent(identity, "h1")
    assert house.desk.next(MachineReported).machine == "h1"
    assert agent.hear("welcome")["lease"] == 600
    key = (identity / "identity/key.pem").read_text()
    kept = "".join(path.read_text() for path in (house.place / "authority").iterdir())
    assert key.splitlines()[1] not in kept
    assert {path.stat().st_mode & 0o777 for path in (identity / "identity").iterdir()} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (house.place / "authority").iterdir()} == {0o600}
    assert not any("dropped" in each for each in house.desk.complaints)


def test_a_host_is_only_the_one_of_its_certificate(house: House) -> None:
    identity = house.enrolled("h1")
    assert house.agent(identity, "h2").is_dropped()
    house.desk.until_complaint("its certificate is of h1, not of h2")
    house.desk.nothing_more()


def test_who_has_no_certificate_can_say_nothing(house: House) -> None:
    assert house.agent(None, "h1").is_dropped()
    house.desk.until_complaint("it has shown no certificate")
    house.desk.nothing_more()


def test_a_certificate_of_another_authority_is_refused(house: House, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = House(tmp_path_factory.mktemp("other"))
    try:
        foreign, own = other.enrolled("h1"), house.enrolled("h1")
        (foreign / "identity/authority.pem").write_bytes((own / "identity/authority.pem").read_bytes())
        with pytest.raises((TunnelError, AssertionError, ConnectionError)):
            house.agent(foreign, "h1").hear("welcome")
        house.desk.until_complaint("its certificate is not believed")
        with pytest.raises(TunnelError, match="its certificate is not believed"):
            other.agent(own, "h1").hear("welcome")  # nor does the agent believe another service
        house.desk.nothing_more()
    finally:
        other.close()


def test_the_certificate_of_a_host_cannot_pass_for_the_service(house: House) -> None:
    identity = house.enrolled("h1") / "identity"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity / tunnel.CERTIFICATE, identity / tunnel.KEY)
    false, agent = Tunnel(context, is_service=True), Tunnel(context_of(str(identity.parent)), is_service=False)
    agent_says = agent.seal(b"hello")
    false.feed(agent_says)
    with pytest.raises(TunnelError, match=r"(unsuitable|unsupported) certificate purpose"):
        agent.feed(false.take())


def test_a_revoked_certificate_is_cut_off_at_once_and_not_let_in_again(house: House) -> None:
    identity = house.enrolled("h1")
    agent = house.agent(identity, "h1")
    house.desk.next(MachineReported)
    waiting = house.authority.invite("h1")
    house.desk.agents.revoke("h1")
    assert agent.is_dropped()
    house.desk.next(MachineSilent)
    house.desk.until_complaint("the certificate of h1 was revoked")
    assert house.agent(identity, "h1").is_dropped()
    house.desk.nothing_more()
    with pytest.raises(InputError, match="not one of this service"):
        enrol(identity, house.address, "h1", waiting)  # nor does a code of before count
    again = Authority(house.place, house.watch)
    own = ssl.PEM_cert_to_DER_cert((identity / "identity/certificate.pem").read_text())
    assert certifying.made_at(x509.load_der_x509_certificate(own).serial_number) <= again.revoke("h2")
    house.agent(house.enrolled("h1", "anew"), "h1").hear("welcome")
    assert house.desk.next(MachineReported).machine == "h1"


def test_a_code_counts_once_for_its_host_and_for_an_hour(house: House, tmp_path: Path) -> None:
    def tried(host: str, code: str) -> str:
        with pytest.raises(InputError) as caught:
            enrol(tmp_path / "tried", house.address, host, code)
        assert not (tmp_path / "tried").exists()
        return str(caught.value.faults[0].what)

    code = house.authority.invite("h1")
    assert "for another host" in tried("h2", code)
    enrol(tmp_path / "first", house.address, "h1", code)
    assert "was used" in tried("h1", code)
    late = house.authority.invite("h1")
    house.watch.ahead += CODE_SPAN
    assert "too old" in tried("h1", late)
    secret, _, mark = house.authority.invite("h1").partition(".")
    assert "another service answers" in tried("h1", f"{secret}.{'0' * 32}")
    assert "not one of this service" in tried("h1", f"{'0' * 32}.{mark}")
    assert "two groups" in tried("h1", secret)
    kept = (house.place / "authority/register.json").read_text()
    assert secret not in kept


def test_a_request_that_its_maker_has_not_signed_is_refused(house: House) -> None:
    for bad in ("", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"):
        with pytest.raises(NotEnrolledError, match="request"):
            house.authority.enrol("h1", house.authority.invite("h1"), bad)


def test_a_certificate_is_renewed_in_time_for_the_same_key(house: House) -> None:
    house.watch.ahead = -61 * DAY
    identity = house.enrolled("h1")
    agent = house.agent(identity, "h1")
    agent.hear("welcome")
    agent.say("beat", n=1)
    agent.hear("lease")
    house.watch.ahead = 0
    agent.say("beat", n=2)
    text = agent.hear("certificate")["certificate"]
    agent.hear("lease")
    before = (identity / "identity/certificate.pem").read_text()
    tunnel.keep(str(identity), text)
    assert (identity / "identity/certificate.pem").read_text() == text != before
    agent.say("beat", n=3)
    agent.hear("lease")
    agent.say("beat", n=4)
    agent.hear("lease")  # and not once more
    house.agent(identity, "h1").hear("welcome")


def test_a_certificate_that_does_not_go_with_the_key_is_not_kept(house: House) -> None:
    first, second = house.enrolled("h1"), house.enrolled("h2")
    before = (first / "identity/certificate.pem").read_text()
    for text in ((second / "identity/certificate.pem").read_text(), "nothing"):
        with pytest.raises(OSError, match=r".*"):
            tunnel.keep(str(first), text)
    assert (first / "identity/certificate.pem").read_text() == before
    assert sorted(path.name for path in (first / "identity").iterdir()) == [
        *("authority.pem", "certificate.pem", "key.pem")
    ]


def test_plain_agents_go_on_beside_those_with_certificates(house: House) -> None:
    assert house.desk.agents.address is not None
    plain = FakeAgent(house.desk.agents.address)
    house.opened.append(plain)
    plain.introduce("h2").hear("welcome")
    house.agent(house.enrolled("h1"), "h1").hear("welcome")
    assert {house.desk.next(MachineReported).machine for _ in range(2)} == {"h1", "h2"}
    wrong = FakeAgent(house.at)
    house.opened.append(wrong)
    wrong.socket.sendall(wrong.channel.greeting)
    assert wrong.is_dropped()
    house.desk.until_complaint("TLS: ")


def test_who_never_ends_the_handshake_of_tls_is_dropped(open_house: Callable[..., House]) -> None:
    house = open_house(settings=AgentSettings(handshake=0.2, strangers=4))
    idle = [socket.create_connection(house.at, PATIENT) for _ in range(6)]
    house.agent(house.enrolled("h1"), "h1").hear("welcome")
    for each in idle:
        assert each.recv(100) == b""
        each.close()
    house.desk.until_complaint("it took too long")


def test_a_long_message_goes_through_whole(house: House) -> None:
    agent = house.agent(house.enrolled("h1"), "h1")
    agent.hear("welcome")
    asked: list[Any] = []

    def answer() -> None:
        asked.append(agent.hear("read"))
        content = "QUJD" * 700_000
        agent.say("piece", n=asked[0]["n"], content=content, next=2_100_000, end=True)

    house.desk.next(MachineReported)
    thread = threading.Thread(target=answer)
    thread.start()
    piece = house.desk.agents.ask("h1", Question("read", "1/x" * 20_000, 1)).result(PATIENT)
    thread.join()
    assert (len(piece.content), asked[0]["path"]) == (2_100_000, "1/x" * 20_000)


def test_an_authority_that_is_damaged_is_named_and_one_that_is_whole_is_opened_again(tmp_path: Path) -> None:
    first = Authority(tmp_path, Watch()).certificate
    assert Authority(tmp_path, Watch()).certificate == first
    for name, bad in (("key.pem", b"{}"), ("certificate.pem", b"{}"), ("register.json", b"[]"), ("service.pem", b"")):
        path = tmp_path / "authority" / name
        before = path.read_bytes() if path.exists() else None
        path.write_bytes(bad)
        with pytest.raises(InputError, match="agent-authority"):
            Authority(tmp_path, Watch())
        if before is None:
            path.unlink()
        else:
            path.write_bytes(before)
    assert Authority(tmp_path, Watch()).certificate == first


def test_what_cannot_be_written_is_told_and_changes_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    identity, code = house.enrolled("h1"), house.authority.invite("h2")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("fairhold.engines.agents.authority._put", full)
        for action in (house.authority.invite, house.desk.agents.revoke):
            with pytest.raises(StoreError, match=r"No space left on device; nothing was changed"):
                action("h1")
        with pytest.raises(InputError, match="closed the connection"):
            enrol(house.place / "h2", house.address, "h2", code)
        house.desk.until_complaint("nothing was changed")
    house.agent(identity, "h1").hear("welcome")
    enrol(house.place / "h2", house.address, "h2", code)


def test_strangers_at_the_door_of_agents_are_told_as_sums() -> None:
    said: list[str] = []
    away = TurnedAway(said.append)
    for at in range(1000):
        away.note(f"10.0.0.1:{at}", "a frame does not verify", float(at) / 10)
    away.note("10.0.0.2:1", "it took too long", 100.0)
    assert len(said) == 2
    away.look(PERIOD - 1)
    assert len(said) == 2
    away.look(PERIOD)
    told = "in the last 10 minutes 999 more connections were dropped before they identified themselves"
    assert said[2:] == [f"{told}, the last from 10.0.0.1:999: a frame does not verify"]
    assert away.due == float("inf")
    for at in range(1000):
        away.note("10.0.0.3:1", f"a frame of {at} bytes", 1000.0)
    assert len(said) == 3 + MOST_KINDS + 1
    away.look(1000.0 + PERIOD)
    assert len(said) == 3 + MOST_KINDS + 2


def test_a_stranger_who_knocks_all_day_does_not_fill_the_log(house: House) -> None:
    for _ in range(50):
        with socket.create_connection(house.at, PATIENT) as line:
            line.sendall(b"GET / HTTP/1.1\r\n\r\n" * 3)
            assert line.recv(1000) is not None
    until(lambda: bool(house.desk.complaints))
    assert len(house.desk.complaints) < 5
