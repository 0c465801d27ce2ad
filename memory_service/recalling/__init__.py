"""How memories are found, ranked, calibrated, reworded, cited and looked at."""
