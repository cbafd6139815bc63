"""Runs in the formats of others: rows in, files or a tracker's runs out."""
