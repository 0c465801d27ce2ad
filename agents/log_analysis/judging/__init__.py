"""What counts as trouble, and what the likeliest cause of it is."""
