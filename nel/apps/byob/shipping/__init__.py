"""From a benchmark file to something that can be handed on: a package, an installation, a container
image.
"""
