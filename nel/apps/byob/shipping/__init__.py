"""From a benchmark file to what can be handed on: a package, an installation, a container image."""
