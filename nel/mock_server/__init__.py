"""Endpoints to rehearse against: a demo model, a replay of recorded outputs, a small real model.

Each is a real HTTP server that speaks the OpenAI protocol, on loopback unless told otherwise. They know nothing of
benchmarks, runs and scores. Trap: importing a module of this package imports aiohttp; the CLI does so inside functions.
"""
