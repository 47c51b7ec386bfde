"""The benchmark API and the built-in benchmarks, one module each."""
