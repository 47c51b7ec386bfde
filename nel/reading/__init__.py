"""Finds the answer of a response: a letter, number, decision, label, text, formula or program."""
