"""`nel limiter serve`: one gate for each endpoint, shared by the runs of one user."""
