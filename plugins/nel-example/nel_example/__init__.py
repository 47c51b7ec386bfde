"""A sample plugin package for nel."""
