"""Settings of the agents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Times are seconds.

    starts_per_second : that a machine is given at most
    stop_grace        : between the signal and SIGKILL of a cancel, a requeue, or a gang that has lost a host
    handshake         : that a peer has from connecting to its inventory
    silence           : without a word, or without taking what is sent, after which a connection is given up
    lease             : of the agents of other machines; the own one has none
    keep              : for which agents of other machines keep the folder of a job before they ask, 0 = for ever
    weight            : part of the processors that a task gets where they are short, 100 = as every other program
    output            : bytes of what an attempt prints that are kept, 0 = all
    strangers         : connections that may be in their handshake at once
    unproven          : bytes that all peers of other machines in their handshake may have sent together
    backlog           : bytes that may wait for an agent that reads slowly
    reports           : events that may wait for the orchestrator before the agents are no longer read
    """

    starts_per_second: float = 2000.0
    stop_grace: float = 5.0
    handshake: float = 10.0
    silence: float = 60.0
    lease: float = 600.0
    keep: float = 0.0
    weight: int = 100
    output: int = 1024 * 1024 * 1024
    strangers: int = 64
    unproven: int = 32 * 1024 * 1024
    backlog: int = 8 * 1024 * 1024
    reports: int = 50_000
