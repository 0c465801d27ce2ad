"""The coordinator: accepts requests, plans them, joins what agents leave, and answers."""
