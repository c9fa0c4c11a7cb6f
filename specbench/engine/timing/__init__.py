"""How long a step would take, and waiting for it."""
