"""One pass over a run's logs, kept as a table of events that every tool reads."""
