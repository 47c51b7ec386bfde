"""Talking to models: the HTTP client, its protocols and its classification of faults."""
