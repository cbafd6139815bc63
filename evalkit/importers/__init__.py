"""Recorded work of others: logs of evaluation tools and of traffic, read into one shape.

One module a format. Nothing here decides anything: what may be paired, the stages say.
"""
