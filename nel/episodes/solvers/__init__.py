"""The solvers that come with nel."""
