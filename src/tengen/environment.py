"""Go as a PettingZoo environment of two agents in turn; knows the board, no players.

Needs `pip install tengen[gym]`. An observation is a dict with `observation`, planes x rows x
columns as `BatchBoard.planes` has them, and `action_mask`, which says what is legal. An action is
a column of that mask: a row-major index, the last one passes. The winner gets 1 and the loser -1
when both have passed in a row or `max_plies` are played (then truncated); a draw gives 0.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from tengen.board import BLACK, PLANES, Board, point_at
from tengen.errors import TengenError

_AGENTS = ("black_0", "white_0")


class GoEnvironment(AECEnv):  # type: ignore[misc]
    """A game of Go between the agents `black_0` and `white_0`.

    >>> env = GoEnvironment(9)
    >>> env.reset(seed=1)
    >>> for agent in env.agent_iter():
    ...     observation, reward, terminated, truncated, info = env.last()
    ...     mask = observation["action_mask"]
    ...     over = terminated or truncated
    ...     env.step(None if over else env.action_space(agent).sample(mask))
    >>> env.board.is_over
    True

    Parameters
    ----------
    start
        The board on which games begin, or its size.
    max_plies
        Plies after which a game is counted as it stands; 3 x points by default.
    render_mode
        `ansi` (text) or `svg`; what `render` returns.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "tengen_go_v0",
        "render_modes": ["ansi", "svg"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        start: Board | int = 19,
        *,
        max_plies: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.render_mode = render_mode
        self._start = start.copy() if isinstance(start, Board) else Board(start)
        self.board = self._start.copy()
        """The game so far."""
        size = self.board.rows, self.board.cols
        self.max_plies = max_plies or 3 * size[0] * size[1]
        self.possible_agents = list(_AGENTS)
        moves = size[0] * size[1] + 1
        self.action_spaces = {agent: spaces.Discrete(moves) for agent in _AGENTS}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, (len(PLANES), *size), np.float32),
                    "action_mask": spaces.Box(0, 1, (moves,), np.int8),
                }
            )
            for agent in _AGENTS
        }

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return what an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return what an agent can do."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; chance plays no part in it, the seed is for what `action_space` samples."""
        if seed is not None:
            for number, space in enumerate(self.action_spaces.values()):
                space.seed(int(seed) + number)
        self.board = self._start.copy()
        self.agents = list(_AGENTS)
        self.rewards = dict.fromkeys(_AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(_AGENTS, 0.0)
        self.terminations = dict.fromkeys(_AGENTS, False)
        self.truncations = dict.fromkeys(_AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in _AGENTS}
        self.agent_selection = self._agent()

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """Return the planes from an agent's view, and its legal moves when it is its turn."""
        board = self.board
        mine = agent == self.agent_selection and not board.is_over
        legal = board.legal_mask() if mine else np.zeros(board.rows * board.cols + 1, np.bool_)
        colour = 1 + _AGENTS.index(agent)
        return {
            "observation": board.planes(colour),
            "action_mask": legal.astype(np.int8),
        }

    def step(self, action: int | None) -> None:
        """Play a move for the agent whose turn it is.

        Raises
        ------
        IllegalMoveError
            If the rules forbid it.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        board = self.board
        space = self.action_spaces[agent]
        whole = hasattr(action, "__index__")  # 1.5 has none
        if action is None or not whole or not space.contains(np.int64(action)):
            raise TengenError(f"action {action!r} of {agent} is none of 0 to {space.n - 1}")
        board.play(board.answer(point_at(int(action), board.rows, board.cols)))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        late = len(board.moves) >= self.max_plies
        if board.is_over or late:
            score = board.area_score()
            won = 0.0 if score == 0 else 1.0 if score > 0 else -1.0
            self.rewards = dict(zip(_AGENTS, (won, -won), strict=True))
            self.terminations = dict.fromkeys(_AGENTS, board.is_over)
            self.truncations = dict.fromkeys(_AGENTS, late and not board.is_over)
            self.infos = {name: {"score": score} for name in _AGENTS}
        self.agent_selection = self._agent()
        self._accumulate_rewards()

    def _agent(self) -> str:
        """Return the agent of the side to move."""
        return _AGENTS[0 if self.board.turn == BLACK else 1]

    def render(self) -> str | None:
        """Return the board as text or SVG, as `render_mode` says."""
        if self.render_mode is None:
            return None
        return self.board.svg() if self.render_mode == "svg" else self.board.ascii()

    def close(self) -> None:
        """Nothing is held open."""
