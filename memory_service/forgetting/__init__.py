"""How memories fade, are archived, erased, and leave as estates."""
