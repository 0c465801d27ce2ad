"""The memory service: recalls what was learnt, learns from runs, and forgets on purpose."""
