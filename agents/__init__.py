"""The worker agents: one folder each, on the shared runtime."""
