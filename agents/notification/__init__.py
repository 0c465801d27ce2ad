"""The agent that tells people what the desk found and did."""
