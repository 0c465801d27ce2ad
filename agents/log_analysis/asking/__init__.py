"""What the tools answer: overview, search, comparison, histogram."""
