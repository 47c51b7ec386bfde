"""What is installed: listing, conformance, and the page of extension points."""
