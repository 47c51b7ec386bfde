"""OpenTelemetry: a finished run as spans."""
