"""Is no benchmark."""

not_a_benchmark = 42
