"""Runs on remote stores."""
