"""Templates: which lines are one kind of line, and which of their words are values."""
