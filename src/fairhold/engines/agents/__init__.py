"""The service's side of the agents: their connections, the own agent's program, the secret that both know.

See docs/attempts.md for the protocol.
"""
