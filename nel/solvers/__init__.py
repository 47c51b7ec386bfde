"""How a sample becomes a request; multi-step solving belongs here too."""
