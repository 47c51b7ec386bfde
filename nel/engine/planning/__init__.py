"""What is run, decided before anything is sent: benchmarks, samples, judges, solvers, identity."""
