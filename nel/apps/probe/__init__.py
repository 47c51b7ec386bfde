"""Asks an endpoint, with few small requests, which protocols and parameters it takes."""
