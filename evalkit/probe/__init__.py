"""How fast endpoints are: load, clocks, memory."""
