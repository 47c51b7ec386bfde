"""The command line, one module for each command: parses arguments and prints results; no logic."""
