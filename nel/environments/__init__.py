"""Environments of agent tasks: containers that an episode's tools act on, and folders of tasks."""
