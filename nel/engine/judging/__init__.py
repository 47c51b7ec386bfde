"""Asking judges: their endpoints, the cases they see, and reading their replies."""
