"""Every Eval Ever: its results, written and read."""
