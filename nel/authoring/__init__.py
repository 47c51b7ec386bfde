"""What a benchmark is and how one is made: decorators, adapters, YAML, registry, few-shot."""
