"""The engines that run tasks, one module each; no engine depends on another."""
