"""The command line: arguments in, text out, one module a command; no logic of its own."""
