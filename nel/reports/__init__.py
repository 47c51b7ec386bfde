"""Pages and tables for people, made from the artifact files alone."""
