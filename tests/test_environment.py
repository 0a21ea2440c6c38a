"""The environment passes PettingZoo's own tests, and says what the board says."""

from __future__ import annotations

import numpy as np
import pytest
from tests.needs import need

from tengen.board import PLANES, Board, Point
from tengen.errors import IllegalMoveError, TengenError

need("pettingzoo")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

from pettingzoo.test import api_test, seed_test  # noqa: E402

from tengen.environment import GoEnvironment  # noqa: E402


@pytest.mark.parametrize("start", [5, Board(4, 6, rules="tromp_taylor", moves="B B2")])
def test_pettingzoos_own_tests(start, capsys) -> None:
    api_test(GoEnvironment(start), num_cycles=300)
    seed_test(lambda: GoEnvironment(start, max_plies=30), num_cycles=50)


def play(env: GoEnvironment, *names: str) -> None:
    for name in names:
        end = env.board.rows * env.board.cols
        env.step(end if name == "pass" else Point(name, env.board.rows, env.board.cols).index)


def test_a_game_to_its_end() -> None:
    env = GoEnvironment(Board(5, komi=0.5), render_mode="ansi")
    env.reset()
    play(env, "C3", "pass")
    seen = env.observe("black_0")
    planes = dict(zip(PLANES, seen["observation"], strict=True))
    assert planes["own"][2, 2] == 1 and planes["own"].sum() == 1 and planes["black"].all()
    assert seen["action_mask"].tolist() == env.board.legal_mask().tolist()
    assert not env.observe("white_0")["action_mask"].any()
    assert "X" in str(env.render())
    play(env, "pass")
    assert env.terminations == {"black_0": True, "white_0": True}
    assert env.rewards == {"black_0": 1.0, "white_0": -1.0}
    assert env.infos["black_0"]["score"] == 24.5


def test_long_games_are_cut_and_counted() -> None:
    env = GoEnvironment(Board(5, komi=30.5), max_plies=2, render_mode="svg")
    env.reset()
    play(env, "C3", "D4")
    assert env.truncations == {"black_0": True, "white_0": True} and env.rewards["white_0"] == 1.0
    assert str(env.render()).startswith("<svg") and not any(env.terminations.values())


def test_bad_actions_are_told() -> None:
    env = GoEnvironment(5)
    env.reset()
    play(env, "C3")
    with pytest.raises(IllegalMoveError, match="the point is taken"):
        play(env, "C3")
    for wrong in (26, -1, None, 1.5):
        with pytest.raises(TengenError, match="none of 0 to 25"):
            env.step(wrong)
    assert np.count_nonzero(env.board.grid()) == 1


def test_agents_see_planes_and_a_mask_and_choose_a_point_or_pass() -> None:
    env = GoEnvironment(Board(4, 6))
    env.reset()
    for agent in env.possible_agents:
        assert env.observation_space(agent).contains(env.observe(agent))
        assert env.action_space(agent).n == 4 * 6 + 1


def test_the_seed_of_a_game_is_that_of_the_agents_spaces() -> None:
    env = GoEnvironment(9)
    drawn = []
    for seed in (7, None, 7, 8):
        env.reset(seed=seed)
        drawn.append([[env.action_space(a).sample() for _ in range(9)] for a in env.agents])
    assert drawn[0] == drawn[2] and drawn[0][0] != drawn[0][1]
    assert drawn[1] != drawn[0] != drawn[3]
