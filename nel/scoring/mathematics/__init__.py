"""Compares final answers as mathematics, by math-verify in a process of its own."""
