"""Go for reinforcement learning: environments of Gymnasium and PettingZoo (`tengen-go[gym]`).

An observation is a dict: `observation` (planes x rows x columns, see `PLANES`) and `action_mask`.
An action is an index into the mask: a row-major point; the last one passes. At the end the winner
gets 1, the loser -1, and both 0 after a draw. Games end after two passes in a row; after
`max_plies` they are truncated and counted as they stand. Importing registers the ids:

- `gymnasium.make("Tengen/Go9x9-v0", opponent="random")`: one agent against a player (`GoEnv`).
- `gymnasium.make_vec("Tengen/Go9x9-v0", num_envs=1000)`: many boards at once (`GoVectorEnv`).
- `GoEnvironment(9)` and `parallel(9)`: two agents, for PettingZoo's two interfaces.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tengen.board import BLACK, PASS, PLANES, RESIGN, WHITE, BatchBoard, Board, index_of, point_at
from tengen.contracts import Player
from tengen.errors import IllegalMoveError, SpecError, TengenError
from tengen.extras import how_to_get

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector.utils import batch_space
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"tengen.environment needs {missing.name}: {how_to_get('gym')}", name=missing.name
    ) from None

Observation = dict[str, NDArray[Any]]
_AGENTS = ("black_0", "white_0")
_MODES = ["ansi", "svg"]
SIZES = (5, 7, 9, 13, 19)


def _observation_space(rows: int, cols: int) -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(0, 1, (len(PLANES), rows, cols), np.float32),
            "action_mask": spaces.Box(0, 1, (rows * cols + 1,), np.int8),
        }
    )


def _player(opponent: str | Player) -> Player:
    if not isinstance(opponent, str):
        return opponent
    from tengen.players import make_player

    return make_player(opponent)


def _text_or_svg(board: Board, mode: str | None) -> str | None:
    return None if mode is None else board.svg() if mode == "svg" else board.ascii()


class GoEnv(gymnasium.Env[Observation, np.int64]):  # type: ignore[misc]
    """One agent against a player. An illegal action loses the game at once.

    >>> env = GoEnv(5, opponent="random")
    >>> observation, info = env.reset(seed=1)
    >>> action = env.action_space.sample(observation["action_mask"])
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> reward, terminated
    (0.0, False)

    `opponent` is the spec of a player, or an object with `choose(board, rng)`; `colour` is the
    agent's: black, white, or random for each game. A game is counted as it stands after
    `max_plies`, 3 x points by default. `render` returns text (`ansi`) or `svg`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": _MODES, "render_fps": 2}

    def __init__(
        self,
        size: int = 9,
        *,
        opponent: str | Player = "random",
        colour: str = "black",
        komi: float | None = None,
        max_plies: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        if colour not in ("black", "white", "random"):
            raise SpecError(f"colour {colour!r} is none of black, white and random")
        self.board = Board(size, komi=komi)
        """The game so far."""
        self.render_mode, self.colour = render_mode, colour
        self.max_plies = max_plies or 3 * size * size
        self._opponent, self._start, self._side = _player(opponent), self.board, BLACK
        self.action_space = spaces.Discrete(size * size + 1)
        self.observation_space = _observation_space(size, size)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game; the opponent moves first if it has Black."""
        super().reset(seed=seed)
        self.board = self._start.copy()
        drawn = self.np_random.integers(2) if self.colour == "random" else self.colour == "white"
        self._side = WHITE if drawn else BLACK
        if self._side == WHITE and not self._reply():
            self.board.play(PASS)  # a game that has not begun cannot be resigned
        return self._observe(), {}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play the agent's move and the opponent's answer."""
        board = self.board
        try:
            board.play(board.to_point(point_at(int(action), board.rows, board.cols)))
        except IllegalMoveError as wrong:
            return self._observe(), -1.0, True, False, {"illegal": str(wrong)}
        if not self._has_ended() and not self._reply():
            return self._observe(), 1.0, True, False, {"resigned": True}
        if not self._has_ended():
            return self._observe(), 0.0, False, False, {}
        score, over = board.area_score(), board.is_over
        reward = float(np.sign(score)) * (1 if self._side == BLACK else -1)
        return self._observe(), reward, over, not over, {"score": score}

    def _has_ended(self) -> bool:
        return self.board.is_over or len(self.board.moves) >= self.max_plies

    def _reply(self) -> bool:
        """Play the opponent's move; return False if it resigns."""
        move = self._opponent.choose(self.board, self.np_random)
        if move != RESIGN:
            self.board.play(move)
        return move != RESIGN

    def _observe(self) -> Observation:
        mask = self.action_masks().astype(np.int8)
        return {"observation": self.board.planes(self._side), "action_mask": mask}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal; Stable-Baselines3's MaskablePPO expects this name."""
        if self.board.is_over or self.board.turn != self._side:
            return np.zeros(self.board.rows * self.board.cols + 1, np.bool_)
        return self.board.legal_mask()

    def render(self) -> str | None:
        """Return the board as text or SVG, as `render_mode` says."""
        return _text_or_svg(self.board, self.render_mode)


class GoVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):  # type: ignore[misc]
    """Many games at once on a `BatchBoard`; a finished game restarts at the next step.

    Without an opponent the agent plays both sides: each step is one ply, observations are those of
    the side to move, and the reward is that of the side that moved. With one (a spec or a player)
    the agent has Black. An illegal action loses its game at once.

    >>> envs = GoVectorEnv(3, 5)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations["observation"].shape, observations["action_mask"].shape
    ((3, 6, 5, 5), (3, 26))
    """

    def __init__(
        self,
        num_envs: int = 1,
        size: int = 9,
        *,
        opponent: str | Player | None = None,
        komi: float | None = None,
        max_plies: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.metadata = {
            "render_modes": _MODES,
            "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP,
        }
        self.num_envs, self.render_mode = num_envs, render_mode
        self.boards = BatchBoard(num_envs, size, komi=komi, max_plies=max_plies)
        """The games so far."""
        self._opponent = None if opponent is None else _player(opponent)
        self._done = np.zeros(num_envs, np.bool_)
        self._masks = self.boards.legal_masks()
        self.single_action_space = spaces.Discrete(size * size + 1)
        self.single_observation_space = _observation_space(size, size)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin all games."""
        super().reset(seed=seed[0] if isinstance(seed, list) else seed)
        self.boards.reset(np.arange(self.num_envs))
        self._done[:] = False
        return self._observe(), {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one action per game; games that ended at the last step restart instead."""
        boards, rewards = self.boards, np.zeros(self.num_envs)
        fresh = self._done
        moves = np.where(fresh, -1, np.asarray(actions, np.int64))
        if ((moves < -1) | (moves >= self._masks.shape[1])).any():
            raise TengenError(f"actions go from 0 to {self._masks.shape[1] - 1}")
        illegal = ~fresh & ~self._masks[np.arange(self.num_envs), moves]
        moves[illegal] = -1
        movers = boards.turns.copy()
        boards.play(moves)
        if fresh.any():
            boards.reset(np.flatnonzero(fresh))
        gone = np.zeros(self.num_envs, np.bool_)
        if self._opponent is not None:
            gone = self._replies(np.flatnonzero(~(fresh | illegal | boards.over)))
        over = boards.over & ~fresh
        if over.any():
            won = np.sign(boards.area_scores()) * np.where(movers == BLACK, 1, -1)
            rewards[over] = won[over]
        rewards[illegal], rewards[gone] = -1.0, 1.0
        late = over & (boards.passes < 2)
        self._done = over | illegal | gone
        return self._observe(), rewards, self._done & ~late, late, {}

    def _replies(self, games: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Play the opponent's move in these games; return in which it resigns."""
        assert self._opponent is not None
        moves, gone = np.full(self.num_envs, -1), np.zeros(self.num_envs, np.bool_)
        for game in games:
            move = self._opponent.choose(self.boards[game], self.np_random)
            gone[game] = move == RESIGN
            if move != RESIGN:
                moves[game] = index_of(int(move), self.boards.rows, self.boards.cols)
        self.boards.play(moves)
        return gone

    def _observe(self) -> Observation:
        self._masks = self.boards.legal_masks()
        planes = self.boards.planes(self._masks)
        return {"observation": planes, "action_mask": self._masks.view(np.int8)}

    def render(self) -> tuple[str | None, ...]:
        """Return every board as text or SVG, as `render_mode` says."""
        boards = (self.boards[game] for game in range(self.num_envs))
        return tuple(_text_or_svg(board, self.render_mode) for board in boards)


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

    `start` is the board on which games begin, or its size; `max_plies` and `render_mode` are as for
    `GoEnv`.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "tengen_go_v0",
        "render_modes": _MODES,
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
        self.observation_spaces = {agent: _observation_space(*size) for agent in _AGENTS}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; `seed` is for the action spaces, since nothing else is random."""
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

    def observe(self, agent: str) -> Observation:
        """Return the planes from an agent's view, and its legal moves when it is its turn."""
        board = self.board
        mine = agent == self.agent_selection and not board.is_over
        legal = board.legal_mask() if mine else np.zeros(board.rows * board.cols + 1, np.bool_)
        colour = 1 + _AGENTS.index(agent)
        return {"observation": board.planes(colour), "action_mask": legal.astype(np.int8)}

    def step(self, action: Any) -> None:
        """Play a move for the agent whose turn it is."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        board = self.board
        space = self.action_spaces[agent]
        # 1.5 and None are not indices.
        if not hasattr(action, "__index__") or not space.contains(np.int64(action)):
            raise TengenError(f"action {action!r} of {agent} is none of 0 to {space.n - 1}")
        board.play(board.to_point(point_at(int(action), board.rows, board.cols)))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        late = len(board.moves) >= self.max_plies
        if board.is_over or late:
            score = board.area_score()
            won = float(np.sign(score))
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
        return _text_or_svg(self.board, self.render_mode)

    def close(self) -> None:
        """Do nothing: PettingZoo requires the method, but there is nothing to release."""


def parallel(start: Board | int = 19, **options: Any) -> ParallelEnv[str, Observation, int]:
    """Return `GoEnvironment` with PettingZoo's parallel interface.

    All agents act at each step; only the action of `infos[agent]["active_agent"]` counts.
    """
    return turn_based_aec_to_parallel(GoEnvironment(start, **options))


for _size in SIZES:
    gymnasium.register(
        f"Tengen/Go{_size}x{_size}-v0",
        entry_point="tengen.environment:GoEnv",
        vector_entry_point="tengen.environment:GoVectorEnv",
        kwargs={"size": _size},
    )
