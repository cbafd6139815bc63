"""Variance of a mean when samples come in clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEW_CLUSTERS = 10


def cluster_codes(clusters: ArrayLike, n: int) -> tuple[NDArray[np.intp], int]:
    """Number the clusters 0, 1, ...

    Args:
        clusters: One label a sample: integers or text, shape (n,).
        n: Number of samples.

    Returns:
        The code of each sample, shape (n,), and the number of clusters.

    Raises:
        ValueError: When there is not one label a sample.
    """
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise ValueError(f"clusters must have shape ({n},), got {labels.shape}")
    names, codes = np.unique(labels, return_inverse=True)
    return codes, int(names.size)


def cluster_sums(
    values: NDArray[np.float64], codes: NDArray[np.intp], n_clusters: int
) -> NDArray[np.float64]:
    """Sum the values of each cluster; shape (n_clusters,)."""
    sums = np.bincount(codes, weights=values, minlength=n_clusters)
    return sums.astype(np.float64, copy=False)


def cluster_variance(
    values: NDArray[np.float64],
    codes: NDArray[np.intp],
    n_clusters: int,
    *,
    correction: bool = True,
) -> float:
    """Cluster-robust variance of the mean of `values`.

    Args:
        values: Shape (n,).
        codes: Cluster of each value, 0 to n_clusters - 1, shape (n,).
        n_clusters: At least 2.
        correction: The factor G / (G - 1) of CR1; without it, Miller 2024, appendix A.

    Raises:
        ValueError: With fewer than 2 clusters, which hold no variance.

    Source: Liang & Zeger 1986; equals the squared standard error of an OLS on a constant
    with clustered covariance.

    >>> d = np.array([1.0, 0.0, 0.0, -1.0])
    >>> cluster_variance(d, np.array([0, 0, 1, 1]), 2)
    0.25
    """
    if n_clusters < 2:
        raise ValueError(f"n_clusters must be at least 2, got {n_clusters}")
    sums = cluster_sums(values - values.mean(), codes, n_clusters)
    factor = n_clusters / (n_clusters - 1) if correction else 1.0
    return factor * float(sums @ sums) / values.size**2
