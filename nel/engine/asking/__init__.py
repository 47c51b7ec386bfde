"""What a session asks of the model, in which order, and what its answers are."""
