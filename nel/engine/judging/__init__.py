"""Asking judges: their endpoints, the cases put to them, and what their replies come to."""
