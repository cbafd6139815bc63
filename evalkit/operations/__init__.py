"""Watching in production what was measured here: alert rules, and how large a canary must be."""
