"""The live service without HTTP: one thread that owns the orchestrator, the store and the agents."""
