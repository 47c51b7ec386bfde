"""The shape of each artifact, from which its JSON Schema is generated."""
