"""Public prompt sets in the very files that they are published as, one module a format."""
