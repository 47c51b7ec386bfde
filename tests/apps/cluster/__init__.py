"""Files that run a benchmark in shards on a scheduler."""
