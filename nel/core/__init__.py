"""What every room may use: atomic files, strict JSON, regular expressions with a limit, event loop,
observers.
"""
