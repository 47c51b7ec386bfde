"""Every reader of what an endpoint, a judge, a dataset or a container sends, against inputs that are almost right.

`corpus` holds well-formed inputs, `mutation` breaks them, `readers` are the properties: a typed result or a typed error,
and nothing else. ``python -m tests.fuzzing --cases 10000000`` searches for as long as it takes.
"""
