"""The service's side of the agents: connections, the agent process of the own machine, the shared secret.

See docs/attempts.md for the protocol.
"""
