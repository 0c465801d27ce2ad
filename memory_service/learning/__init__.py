"""What is learnt, from whom, and what a memory must pass: candidates, the gate, corroboration, review."""
