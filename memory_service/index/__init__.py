"""Indexes: where the vectors are. SQL is the truth; an index can always be rebuilt."""
