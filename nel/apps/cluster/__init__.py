"""What runs a benchmark in shards on a scheduler: a Slurm array, or an Indexed Job of Kubernetes.
Submits nothing.
"""
