"""From a file of rows to a benchmark file: what the rows look like, what that suggests, and the
text it makes.
"""
