"""What the tests need of scikit-learn's private modules: the only place that knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sklearn.utils._test_common.instance_generator import (
    INIT_PARAMS,
    PER_ESTIMATOR_CHECK_PARAMS,
    PER_ESTIMATOR_XFAIL_CHECKS,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def checks_of(estimators: Sequence[object], expected: Callable[[object], dict[str, str]]) -> pytest.MarkDecorator:
    """Return `parametrize_with_checks`, with a list where scikit-learn before 1.8 gives pytest a generator."""
    mark = parametrize_with_checks(list(estimators), expected_failed_checks=expected)
    names, values = mark.args
    return pytest.mark.parametrize(names, list(values), **mark.kwargs)


def scikit_learn_class(estimator: object) -> type:
    """Return scikit-learn's own class behind an estimator of ours."""
    return next(base for base in type(estimator).__mro__ if base.__module__.startswith("sklearn."))


def expected_failures(estimator: object) -> dict[str, str]:
    """Return the checks that scikit-learn expects its own class to fail, with its reasons."""
    return dict(PER_ESTIMATOR_XFAIL_CHECKS.get(scikit_learn_class(estimator), {}))


def parameters_of_check(estimator: object, check: str) -> list[dict[str, object]]:
    """Return the parameter sets with which scikit-learn runs a check on its own class; `[]` for its default."""
    found = PER_ESTIMATOR_CHECK_PARAMS.get(scikit_learn_class(estimator), {}).get(check, [])
    return [found] if isinstance(found, dict) else list(found)


def instance_for_checks(owner: type) -> object:
    """Return an estimator of ours with the parameters that scikit-learn checks its own class with."""
    theirs = next(base for base in owner.__mro__ if base.__module__.startswith("sklearn."))
    parameters = INIT_PARAMS.get(theirs, {})
    return owner(**(parameters if isinstance(parameters, dict) else parameters[0]))
