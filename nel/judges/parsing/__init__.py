"""Reads verdicts from the replies of judges; what a judge quotes is never one."""
