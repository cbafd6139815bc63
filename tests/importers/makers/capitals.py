"""Questions of this project's own, small enough to read: thirty capitals, two choices each."""

from __future__ import annotations

CAPITALS = (
    ("France", "Paris", "Lyon"),
    ("Japan", "Tokyo", "Osaka"),
    ("Italy", "Rome", "Milan"),
    ("Spain", "Madrid", "Seville"),
    ("Egypt", "Cairo", "Luxor"),
    ("Peru", "Lima", "Cusco"),
    ("Kenya", "Nairobi", "Mombasa"),
    ("Canada", "Ottawa", "Toronto"),
    ("Turkey", "Ankara", "Istanbul"),
    ("Brazil", "Brasilia", "Salvador"),
    ("India", "New Delhi", "Mumbai"),
    ("Norway", "Oslo", "Bergen"),
    ("Australia", "Canberra", "Sydney"),
    ("Morocco", "Rabat", "Casablanca"),
    ("Vietnam", "Hanoi", "Hue"),
    ("Switzerland", "Bern", "Zurich"),
)


def rows() -> list[dict[str, object]]:
    """Return question, choices and the place of the right one."""
    return [
        {
            "question": f"What is the capital of {country}?",
            "choices": [right, wrong] if place % 2 == 0 else [wrong, right],
            "label": place % 2,
            "answer": right,
        }
        for place, (country, right, wrong) in enumerate(CAPITALS)
    ]
