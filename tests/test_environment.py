"""The environments pass the API tests of Gymnasium and PettingZoo and agree with the board."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.needs import need

from tengen.board import PLANES, Board, Point
from tengen.errors import IllegalMoveError, TengenError

need("pettingzoo")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

import gymnasium
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, seed_test

from tengen.environment import GoEnv, GoEnvironment, GoVectorEnv, parallel


@pytest.mark.parametrize("start", [5, Board(4, 6, rules="tromp_taylor", moves="B B2")])
def test_pettingzoos_own_tests(start, capsys) -> None:
    api_test(GoEnvironment(start), num_cycles=300)
    seed_test(lambda: GoEnvironment(start, max_plies=30), num_cycles=50)


def test_the_parallel_interface_passes_its_own_test() -> None:
    parallel_api_test(parallel(5, max_plies=40), num_cycles=200)


@pytest.mark.parametrize("options", [{}, {"opponent": "maxlib", "colour": "white"}])
def test_gymnasiums_own_tests(options) -> None:
    env = gymnasium.make("Tengen/Go5x5-v0", render_mode="ansi", **options)
    check_env(env.unwrapped)
    env.close()


class Passes:
    name = "passes"

    def choose(self, board, rng):
        return board.point("pass")


class Resigns(Passes):
    def choose(self, board, rng):
        return -1


def test_an_agent_wins_loses_and_is_cut_off() -> None:
    env = GoEnv(5, opponent=Passes(), komi=0.5, max_plies=6, render_mode="svg")
    seen, _ = env.reset()
    assert env.observation_space.contains(seen) and seen["action_mask"].all()
    env.step(12)
    seen, reward, ended, cut, info = env.step(25)
    assert (reward, ended, cut, info) == (1.0, True, False, {"score": 24.5})
    assert not seen["action_mask"].any() and str(env.render()).startswith("<svg")
    env.reset()
    env.step(12)
    assert "taken" in env.step(12)[4]["illegal"] and env.step(12)[1:4] == (-1.0, True, False)
    env.reset()
    assert [env.step(action)[1:4] for action in (0, 2, 4)][-1] == (1.0, False, True)
    env = GoEnv(5, opponent=Resigns())
    env.reset()
    assert env.step(12)[1:3] == (1.0, True)


def test_an_agent_with_white_answers_black() -> None:
    for opponent in (Passes(), Resigns()):
        env = GoEnv(5, opponent=opponent, colour="white", komi=0.5)
        seen, _ = env.reset()
        assert len(env.board.moves) == 1 and not seen["observation"][-1].any()
        assert env.step(25)[1:3] == (1.0, True)
    sides = set()
    env = GoEnv(5, colour="random")
    for seed in range(8):
        env.reset(seed=seed)
        sides.add(len(env.board.moves))
    assert sides == {0, 1}
    with pytest.raises(TengenError, match="green"):
        GoEnv(5, colour="green")


def test_many_games_at_once_agree_with_single_boards() -> None:
    rng = np.random.default_rng(3)
    envs = gymnasium.make_vec("Tengen/Go5x5-v0", num_envs=20, max_plies=40, komi=0.5)
    seen, _ = envs.reset(seed=1)
    boards, done = [Board(5, komi=0.5) for _ in range(20)], np.zeros(20, bool)
    ended = 0
    for _ in range(150):
        chances = rng.random((20, 26)) * seen["action_mask"]
        actions = chances.argmax(axis=1)
        seen, rewards, over, late, _ = envs.step(actions)
        for game, board in enumerate(boards):
            if done[game]:
                board = boards[game] = Board(5, komi=0.5)
                assert rewards[game] == 0
            else:
                side = board.turn
                board.play(divmod(int(actions[game]), 5) if actions[game] < 25 else "pass")
                sign = np.sign(board.area_score()) * (1 if side == 1 else -1)
                finished = board.is_over or len(board.moves) >= 40
                assert (over[game] or late[game]) == finished and late[game] <= (not board.is_over)
                assert rewards[game] == (sign if finished else 0)
                ended += finished
            assert (seen["observation"][game] == board.planes()).all()
        done = over | late
    assert ended > 20


def test_illegal_actions_opponents_and_resignations_of_many_games() -> None:
    envs = GoVectorEnv(3, 5, opponent=Passes(), komi=0.5, render_mode="ansi")
    envs.reset(seed=1)
    envs.step(np.array([12, 12, 12]))
    _, rewards, over, late, _ = envs.step(np.array([12, 25, 3]))
    assert rewards.tolist() == [-1, 1, 0] and over.tolist() == [True, True, False]
    assert not late.any() and "X" in str(envs.render()[2])
    _, rewards, over, _, _ = envs.step(np.array([12, 12, 4]))
    assert not rewards.any() and not over.any() and envs.boards.plies.tolist() == [0, 0, 6]
    with pytest.raises(TengenError, match="from 0 to 25"):
        envs.step(np.array([26, 0, 0]))
    envs = GoVectorEnv(1, 5, opponent=Resigns())
    envs.reset()
    assert envs.step(np.array([3]))[1].tolist() == [1.0]


def test_a_missing_extra_says_what_to_install() -> None:
    program = "import sys; sys.modules['gymnasium'] = None; import tengen.environment"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode and "pip install 'tengen-go[gym]'" in done.stderr


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


def test_bad_actions_are_reported() -> None:
    env = GoEnvironment(5)
    env.reset()
    play(env, "C3")
    with pytest.raises(IllegalMoveError, match="the point is taken"):
        play(env, "C3")
    for wrong in (26, -1, None, 1.5):
        with pytest.raises(TengenError, match="none of 0 to 25"):
            env.step(wrong)
    assert np.count_nonzero(env.board.grid()) == 1
