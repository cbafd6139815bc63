from __future__ import annotations

import numpy as np
import pytest

from evalkit.stats.cluster_checks import cluster_t, durkalski, obuchowski
from evalkit.stats.clusters import cluster_codes, cluster_variance
from evalkit.stats.mcnemar import mcnemar_asymptotic

D = np.repeat([1.0, -1.0, 0.0], [6, 16, 139])


@pytest.mark.parametrize("test", [durkalski, obuchowski])
def test_clusters_of_one_are_mcnemar(test):
    factor = 161 / 160 if test is obuchowski else 1
    expected = mcnemar_asymptotic(6, 16).statistic / factor
    assert test(D, np.arange(161)).statistic == pytest.approx(expected)


@pytest.mark.parametrize("test", [durkalski, obuchowski])
def test_repeating_answers_changes_nothing(test):
    once = test(D, np.arange(161)).pvalue
    assert test(np.repeat(D, 4), np.repeat(np.arange(161), 4)).pvalue == pytest.approx(once)


@pytest.mark.parametrize("test", [durkalski, obuchowski])
def test_no_flips_prove_nothing(test):
    assert test(np.zeros(9), np.arange(9) // 3).pvalue == 1
    assert test(np.zeros(9), np.zeros(9)).warnings == ("no_flips",)


def test_few_clusters_are_called_so():
    assert cluster_t(D[:9], np.arange(9)).warnings == ("few_clusters",)
    assert cluster_t(D[:10], np.arange(10)).warnings == ()
    assert cluster_t(D[:9], np.zeros(9)).low is None
    with pytest.raises(ValueError, match="n_clusters"):
        cluster_variance(D, np.zeros(161, dtype=np.intp), 1)


def test_labels_may_be_text():
    codes, groups = cluster_codes(["b", "a", "b"], 3)
    assert codes.tolist() == [1, 0, 1]
    assert groups == 2
