"""Programs of others as agents: recipes, their installation, and the endpoint served to one episode."""
