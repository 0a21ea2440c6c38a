"""Start an analysis engine on standard input and output; hold no knowledge of the protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from tengen.cli.options import PlayerName, Quiet, Seed, option
from tengen.cli.printing import remark, standard_input

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.contracts import Policy

app = typer.Typer()

_DEFAULT_PLAYER = "tengen"


@app.command()
def analysis(
    player: PlayerName = _DEFAULT_PLAYER,
    policy: str | None = option(
        None, "Model for includePolicy; the player's own, else by the board's size; or none."
    ),
    visits: int = option(500, "Visits a position when a query names none.", min=1),
    threads: int = option(1, "Positions to analyse side by side.", min=1),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Speak KataGo's JSON analysis protocol, for KaTrain.

    One JSON query a line on standard input, answers on standard output as they are ready. Ends
    when the input ends and all is answered.
    """
    from tengen.gtp.analysis_server import AnalysisServer
    from tengen.players import make_player, parse_spec

    source = standard_input().buffer
    parse_spec(player)  # a wrong name is told now and not after the first query
    models = _Models(policy, quiet)
    server = AnalysisServer(
        lambda: make_player(player),
        find_policy=models.find,
        policy_first=policy is not None,
        visits=visits,
        seed=seed,
        threads=threads,
    )
    remark("tengen analysis: ready for queries", quiet=quiet)
    server.run(source, sys.stdout.buffer)


class _Models:
    """Load the model that predicts moves for a size of board, once, and say when it is missing."""

    def __init__(self, name: str | None, quiet: bool) -> None:
        self.name, self.quiet = name, quiet
        self._loaded: dict[str, Policy | None] = {}

    def find(self, board: Board) -> Policy | None:
        """Return the policy for a board, or None."""
        from tengen.errors import ModelError
        from tengen.models import load_policy
        from tengen.models.defaults import network_for

        name = self.name or network_for(board.rows, board.cols) or "none"
        if name == "none":
            return None
        if name not in self._loaded:
            try:
                self._loaded[name] = load_policy(name)
            except ModelError as failure:
                if self.name is not None:
                    raise
                self._loaded[name] = None
                remark(f"policy by the search's visits: {failure}", quiet=self.quiet)
        return self._loaded[name]
