"""The agent that runs typed actions from the operator's catalogue."""
