"""Not a benchmark."""

not_a_benchmark = 42
