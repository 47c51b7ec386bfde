"""Benchmarks as classes, under the names that EvalScope gives their parts; public from
`nel.benchmarks`.
"""
