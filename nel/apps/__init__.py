"""Optional commands, one room each, behind the entry-point group ``nel.commands``; none imports
another.
"""
