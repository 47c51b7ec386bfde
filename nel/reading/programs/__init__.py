"""Finds the program in a response; `extract_program` is the entry."""

from nel.reading.programs.extraction import Extracted, extract_program

__all__ = ["Extracted", "extract_program"]
