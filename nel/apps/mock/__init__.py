"""Endpoints to rehearse against: a demo model and judge, recorded outputs, a
script, a benchmark's own gold, a small real model.

Each is a real HTTP server that speaks the OpenAI protocol, on loopback unless told otherwise.
Importing a module of this package imports aiohttp; the CLI does so inside functions.
"""
