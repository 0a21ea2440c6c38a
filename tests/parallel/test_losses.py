"""What a cluster loses is counted: a worker against its job, a node hardly. Needs no Ray."""

from __future__ import annotations

from collections import Counter

import pytest

from tengen.parallel import WorkerLostError
from tengen.parallel.cluster import ACCIDENTS, _count_loss


class Errors:
    """The names that Ray gives to what went wrong."""

    class WorkerCrashedError(Exception):
        pass

    class NodeDiedError(Exception):
        pass

    class ObjectLostError(Exception):
        pass

    class OutOfMemoryError(Exception):
        pass


@pytest.mark.parametrize(
    ("trouble", "most"),
    [
        (Errors.WorkerCrashedError(), 2),
        (Errors.NodeDiedError(), ACCIDENTS),
        (Errors.ObjectLostError(), ACCIDENTS),
        (Errors.OutOfMemoryError(), ACCIDENTS),
        (ValueError(), 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_job_is_given_up_in_the_end(trouble: Exception, most: int) -> None:
    losses: Counter[tuple[int, str]] = Counter()
    for _ in range(most):
        _count_loss(losses, Errors, trouble, 7, retries=2)
    _count_loss(Counter(losses), Errors, Errors.NodeDiedError(), 8, retries=0)
    with pytest.raises(WorkerLostError, match="job 7"):
        _count_loss(losses, Errors, trouble, 7, retries=2)
