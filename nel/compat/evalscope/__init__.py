"""EvalScope's names for adapters that were written for it, behaving as EvalScope 1.14 does where
nel's own differ.

A file sees them under ``evalscope.…`` while it is loaded (`nel.compat.evalscope.names`).
Prompt templates are EvalScope's (Apache-2.0) word for word, since another wording gives other
scores; the code is nel's.
"""
