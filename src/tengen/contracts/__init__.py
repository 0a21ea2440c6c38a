"""Say what players, experts and models owe each other, and check it; know no implementation.

`protocols` holds the promises, `values` the small things they return, `checks` the functions that
anybody can run on an implementation of their own.
"""

from tengen.contracts.checks import (
    ContractBroken,
    check_evaluator,
    check_expert,
    check_learner,
    check_player,
    check_policy,
    check_scorer,
    sample_boards,
)
from tengen.contracts.protocols import (
    Analyser,
    Evaluator,
    Expert,
    Explainer,
    JudgingPlayer,
    Learner,
    NarrowablePlayer,
    OwnershipEvaluator,
    Player,
    Policy,
    ScoreEstimator,
    Scorer,
    TimedPlayer,
)
from tengen.contracts.values import (
    Analysis,
    BlockStatus,
    Candidate,
    ScoreEstimate,
    Status,
    Verdict,
    win_probability,
)

__all__ = [
    "Analyser",
    "Analysis",
    "BlockStatus",
    "Candidate",
    "ContractBroken",
    "Evaluator",
    "Expert",
    "Explainer",
    "JudgingPlayer",
    "Learner",
    "NarrowablePlayer",
    "OwnershipEvaluator",
    "Player",
    "Policy",
    "ScoreEstimate",
    "ScoreEstimator",
    "Scorer",
    "Status",
    "TimedPlayer",
    "Verdict",
    "check_evaluator",
    "check_expert",
    "check_learner",
    "check_player",
    "check_policy",
    "check_scorer",
    "sample_boards",
    "win_probability",
]
