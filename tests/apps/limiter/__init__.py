"""Limits of an endpoint shared by several runs."""
