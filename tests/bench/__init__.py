"""`make bench`: what evalkit itself costs. One module a benchmark, see `__main__`."""
