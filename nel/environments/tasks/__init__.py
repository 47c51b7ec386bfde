"""Folders of tasks: an instruction, an image, hidden tests. Read, run and verified."""
