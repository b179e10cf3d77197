"""scikit-learn's own estimator checks, with its own expected failures and no others.

On the forced GPU the checks run with `precision="float32"`; what they ask there and cannot get is listed below.
The variants are left out there: scikit-learn itself refuses sparse data for some, and a strict GPU for the others.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING
from unittest import SkipTest

import pytest
from sklearn.base import clone

import metalml as ml
from compat import (
    checks_of,
    expected_failures,
    instance_for_checks,
    parameters_of_check,
    scikit_learn_class,
)
from estimators import implemented

if TYPE_CHECKING:
    from collections.abc import Callable

ESTIMATORS = [
    ml.linear_model.Ridge(),
    ml.linear_model.Ridge(solver="cholesky"),
    ml.preprocessing.StandardScaler(),
    ml.preprocessing.StandardScaler(with_mean=False),
]
# Every other one, with the parameters that scikit-learn checks it with.
OTHERS = [
    instance_for_checks(owner)
    for owner in implemented()
    if owner not in (ml.linear_model.Ridge, ml.preprocessing.StandardScaler)
]
GPU_ESTIMATORS = [ml.linear_model.Ridge(), ml.preprocessing.StandardScaler()]

FLOAT64 = "asserts float64 accuracy"
SPARSE = "strict refuses sparse"
MOST_GPU_FAILURES = {"Ridge": 5, "StandardScaler": 3}
GPU_FAILURES: dict[str, dict[str, str]] = {
    "Ridge": {
        "check_sample_weight_equivalence_on_sparse_data": SPARSE,
        "check_estimator_sparse_tag": SPARSE,
        "check_estimator_sparse_array": SPARSE,
        "check_estimator_sparse_matrix": SPARSE,
        "check_sample_weight_equivalence_on_dense_data": FLOAT64,
    },
    "StandardScaler": {
        "check_sample_weight_equivalence_on_sparse_data": SPARSE,  # asked by scikit-learn 1.6
        "check_estimator_sparse_array": SPARSE,
        "check_estimator_sparse_matrix": SPARSE,
    },
}


def expected_gpu_failures(estimator: object) -> dict[str, str]:
    """Return scikit-learn's list and ours for the forced GPU."""
    return {**expected_failures(estimator), **GPU_FAILURES[type(estimator).__name__]}


def run(estimator: object, check: Callable[[object], None]) -> None:
    """Run a check with the parameters that scikit-learn runs it with on its own class."""
    function = check.func if isinstance(check, functools.partial) else check
    for parameters in parameters_of_check(estimator, function.__name__) or [{}]:
        check(clone(estimator).set_params(**parameters))


@pytest.mark.parametrize("backend", ["auto", "native", "cpu"], indirect=True)
@checks_of(ESTIMATORS, expected_failures)
def test_checks(backend: str, estimator: object, check: Callable[[object], None]) -> None:
    run(estimator, check)


@pytest.mark.filterwarnings("ignore")  # few iterations do not converge, as in scikit-learn's own run
@pytest.mark.parametrize("backend", ["native"], indirect=True)
@checks_of(OTHERS, lambda _: {})
def test_checks_of_others(backend: str, estimator: object, check: Callable[[object], None]) -> None:
    try:
        run(estimator, check)
    except SkipTest:
        raise
    except Exception as error:
        # Whether scikit-learn's own class passes depends on the BLAS: its list of failures does not hold everywhere.
        theirs = scikit_learn_class(estimator)(**estimator.get_params(deep=False))
        with pytest.raises(type(error)):
            run(theirs, check)
        pytest.xfail(f"scikit-learn's own class fails too: {error}")


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
@checks_of(GPU_ESTIMATORS, expected_gpu_failures)
def test_checks_on_the_gpu(backend: str, estimator: object, check: Callable[[object], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("name", list(MOST_GPU_FAILURES))
def test_list_of_gpu_failures_stays_short_and_honest(name: str) -> None:
    assert len(GPU_FAILURES[name]) <= MOST_GPU_FAILURES[name]
    assert set(GPU_FAILURES[name].values()) <= {FLOAT64, SPARSE}


def test_expected_failures_are_found_by_the_class_of_scikit_learn() -> None:
    assert set(expected_failures(ml.linear_model.Ridge())) == {"check_non_transformer_estimators_n_iter"}
