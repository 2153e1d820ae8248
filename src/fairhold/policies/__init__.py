"""What an administrator chooses: a folder a policy, and the registry that knows them all."""
