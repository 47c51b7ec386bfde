"""nel as an image, and beside a model server and Prometheus."""
