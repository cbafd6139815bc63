"""What is usual for a request of so many tokens, fitted as requests come.

Lengths vary on purpose, so that a latency says nothing alone. What is usual is a constant and
a share for each token of the prompt and of the answer, never negative (Lawson and Hanson 1974),
by least squares of relative errors, so that short requests count as much as long ones and slow
outliers hardly at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls


@dataclass(slots=True)
class Usual:
    """What is usual for so many tokens, by least squares of relative errors."""

    size: int
    power: NDArray[np.float64] = field(init=False)
    reached: NDArray[np.float64] = field(init=False)
    found: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        self.power = np.zeros((self.size, self.size))
        self.reached = np.zeros(self.size)

    def add(self, row: tuple[float, ...], seconds: float) -> None:
        """Take a request: its row, and what it took."""
        relative = np.asarray(row) / seconds
        self.power += np.outer(relative, relative)
        self.reached += relative

    def fit(self) -> None:
        """Find the coefficients, none of them negative."""
        scale = np.sqrt(np.diag(self.power))
        scale[scale == 0] = 1.0
        scaled = self.power / np.outer(scale, scale) + 1e-9 * np.eye(self.size)
        root = np.linalg.cholesky(scaled)
        target = np.linalg.solve(root, self.reached / scale)
        self.found = nnls(root.T, target)[0] / scale

    def ratio(self, row: tuple[float, ...], seconds: float) -> float | None:
        """Return what a request took as a ratio to what is usual for it."""
        usual = float(np.dot(row, self.found)) if self.found is not None else 0.0
        return seconds / usual if usual > 0 else None
