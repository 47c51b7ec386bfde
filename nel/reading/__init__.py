"""Finds the answer that a response states: letters, numbers, decisions, labels, texts, formulas,
programs.
"""
