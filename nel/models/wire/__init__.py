"""Vendors' protocols on the wire: a request to bytes, an answer from them. Sends nothing."""
