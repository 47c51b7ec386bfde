"""People's labels of answers: drawn, written, read back, and what they say of a judge."""
