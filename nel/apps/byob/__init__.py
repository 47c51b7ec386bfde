"""`nel byob`: create a benchmark, validate it, and ship it as a package or an image."""
