"""Optional commands, one room each, in the entry-point group ``nel.commands``; none imports
another.
"""
