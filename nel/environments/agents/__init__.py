"""Programs of others as agents: recipes, installation, and the endpoint served to one episode."""
