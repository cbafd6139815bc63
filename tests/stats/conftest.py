"""Properties run without a deadline: the machine may be busy with other tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("stats", deadline=None)
settings.load_profile("stats")
