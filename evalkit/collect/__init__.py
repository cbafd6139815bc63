"""Collecting completions: schedule, retry, journal, preflight. All async code ends here."""
