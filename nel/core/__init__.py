"""What every room may use: atomic files, strict JSON, timed regular expressions, observers."""
