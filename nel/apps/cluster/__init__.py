"""What runs a benchmark in shards on a scheduler: a Slurm array, or a Job of Kubernetes."""
