"""The run's side of sharing an endpoint's limits with other runs: `nel limiter serve`."""
