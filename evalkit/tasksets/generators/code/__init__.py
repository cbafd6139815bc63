"""Function-writing problems with hidden tests: templates, and compositions of steps."""
