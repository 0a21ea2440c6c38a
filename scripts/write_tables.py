"""Write the tables of the docs anew from recorded rows and databases; `--check` only compares.

A page names what it takes: everything from `<!-- rows SOURCE NAME -->` to `<!-- end -->` is
replaced.

rows PAPER claims|questions|settings|citation   of a paper, named as in `tengen.papers`
rows PAPER KEY                                  a table of its report
rows all headlines                              the headline claims of all papers
rows one headline                               the first of each paper
rows ladder SIZE                                a shipped ladder
rows levels all                                 the levels of `tengen` on the shipped ladders
rows ranks all                                  the lines that ranks are estimated from, tested
rows matches PART                               matches, from `matches.toml`; or headlines
rows networks moves|nine|halfway|teacher        networks measured on games
rows study tying|sizes|inputs|games             trainings of the network study
rows expert all                                 the built-in expert against GNU Go
rows finished all                               records that are called finished
rows quick all                                  the mistakes of quick reviews
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scipy.stats import pearsonr

from tengen.arena import Database, results_of
from tengen.arena.placing import rank_of, recorded, shipped_ladder
from tengen.lab.decisions import Estimate
from tengen.lab.evidence import Evidence, find_evidence
from tengen.lab.formatting import percent, show, show_estimate
from tengen.lab.papers import papers
from tengen.lab.report import (
    CLAIM_COLUMNS,
    QUESTION_COLUMNS,
    PaperReport,
    claim_row,
    claim_units,
    not_recorded_line,
    question_row,
    report_of,
)
from tengen.players.tengen import LEVELS
from tengen.reviews.strength import deviation, fitted, lines, rank_at
from tengen.statistics import wilson

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_SIDE_MOVES = {"9x9": 25, "19x19": 110}  # of one side of a whole game, about
PART = re.compile(r"(<!-- rows ([\w-]+) ([\w-]+) -->\n).*?(<!-- end -->)", re.S)


def written(text: str, links: str = "") -> str:
    """Return a page with its parts from rows written anew; `links` leads to the papers' pages."""

    def part(found: re.Match[str]) -> str:
        source, name = found[2], found[3]
        wide = {
            "expert": lambda _: _expert(),
            "finished": lambda _: _finished(),
            "all": lambda _: _headlines(links),
            "one": lambda _: _headlines(links, most=1),
            "ladder": _ladder,
            "levels": lambda _: _levels(),
            "matches": _matches,
            "networks": _networks,
            "quick": lambda _: _quick(),
            "ranks": lambda _: _ranks(),
            "study": _study,
        }
        text = wide[source](name) if source in wide else _of_paper(source, name)
        return found[1] + text + found[4]

    return PART.sub(part, text)


@cache
def _report(paper: str) -> PaperReport:
    return report_of(papers()[paper], papers()[paper].data)


def _of_paper(name: str, part: str) -> str:
    """Return a part of a paper's report."""
    paper = papers()[name]
    tables: dict[str, Callable[[], str]] = {
        "claims": lambda: _claims(name),
        "questions": lambda: _questions(name),
        "settings": lambda: _table(
            ["setting", "paper", "here", "why"],
            [[each.name, each.paper, each.here, each.why] for each in paper.settings],
        ),
        "citation": lambda: (
            f"{paper.authors}: *{paper.full_title}*. {paper.venue}, {paper.year}.\n\n"
            f"```bibtex\n{paper.bibtex.strip()}\n```\n"
        ),
    }
    if part in tables:
        return tables[part]()
    table = _report(name).table(part)
    if table is None:
        return "Not recorded yet.\n"
    return _table(table.columns, table.rows) + (f"\n{table.note}\n" if table.note else "")


_RULE = """\
Verdicts follow [one rule](../guide/laboratory.md#verdicts), written down before the runs. Intervals
are over what is independent, power is the chance to see the paper's effect, and among the claims of
one table an effect must stand by Holm's rule. A "smaller run" than the paper's cannot refute.
"""


def _claims(name: str) -> str:
    """Return a paper's claims, and which of them have no rows yet."""
    missing = not_recorded_line(papers()[name], _report(name))
    table = _table(CLAIM_COLUMNS, [claim_row(claim) for claim in _report(name).claims])
    return "\n".join([table, *([f"{missing}\n"] if missing else []), _RULE])


def _questions(name: str) -> str:
    """Return a paper's questions in its order, with the answers that there are."""
    found = {each.id: question_row(each) for each in _report(name).questions}
    rows = [
        found.get(id, [question, "not recorded yet", ""])
        for id, question in papers()[name].questions.items()
    ]
    return _table(QUESTION_COLUMNS, rows)


def _headlines(links: str, most: int | None = None) -> str:
    """Return the first headline claims of each paper, with links to the papers' pages."""
    rows = []
    for name, paper in papers().items():
        page = f"[{paper.cited}]({links}{_page(name)})"
        for result in [each for each in _report(name).claims if each.claim.headline][:most]:
            claim, word = result.claim, claim_row(result)[-1]
            ours = f"{show_estimate(result.ours, claim.unit)}, {claim_units(result)}"
            said = show(claim.figure, None, claim.unit)
            rows.append([page, f"{claim.where}: {claim.what}", said, ours, word])
    return _table(["paper", "claim", "paper's figure", "here", "verdict"], rows)


def _page(name: str) -> str:
    return f"papers/{name}.md"


def _ladder(size: str) -> str:
    """Return the players of a shipped ladder, best first."""
    with Database.look(shipped_ladder(size)) as database:
        results = results_of(database)
    rows = []
    for entry in results.standings:
        if rating := entry.rating:
            fixed = rating.low == rating.high
            interval = "anchor" if fixed else f"{rating.low:.0f} to {rating.high:.0f}"
            rows.append([entry.name, f"{rating.elo:.0f}", interval, entry.games])
    return _table(["player", f"Elo on {size}", "95 %", "games"], rows)


def _levels() -> str:
    """Return the ratings of the levels on every shipped ladder."""
    ratings = {(entry["player"], entry["size"]): entry for entry in recorded()}
    sizes = ["9x9", "13x13", "19x19"]
    rows = []
    for level in LEVELS:
        cells = []
        for size in sizes:
            entry = ratings.get((f"tengen:level={level}", size))
            if entry is None:
                cells.append("")
                continue
            low, high = entry["interval"]
            about = f"{entry['elo']:.0f} ({low:.0f} to {high:.0f}), {rank_of(entry['elo'])}"
            cells.append(f"{about}, {entry['games']} games")
        rows.append([level, *cells])
    return _table(["level", *(f"{size}: Elo (95 %), about, games" for size in sizes)], rows)


def _matches(part: str) -> str:
    """Return games won of games played; the headlines as one row per opponent."""
    file = ROOT / "docs" / "results" / "matches.toml"
    matches = tomllib.loads(file.read_text(encoding="utf-8"))["match"]
    if part == "headlines":
        won = {(m["headline"], m["board"]): _won(m) for m in matches if "headline" in m}
        sizes = ["9x9", "13x13", "19x19"]
        opponents = dict.fromkeys(opponent for opponent, _ in won)
        rows = [[each, *(won.get((each, size), "") for size in sizes)] for each in opponents]
        return _table(["opponent", *sizes], rows)
    shown = [match for match in matches if match["part"] == part]
    about = ("player", "moves", "opponent", "board", "openings", "time")
    names = [name for name in about if name in shown[0]]
    seeds = [[match["seeds"]] if "seeds" in match else [] for match in shown]
    rows = [
        [*(match[name] for name in names), _won(match), *seed]
        for match, seed in zip(shown, seeds, strict=True)
    ]
    return _table([*names, "won", *(["seeds from"] if seeds[0] else [])], rows)


def _won(match: dict[str, Any]) -> str:
    """Return games won of games played, and the interval of their share in percent."""
    low, high = wilson(match["won"], match["games"])
    return f"{match['won']} of {match['games']} [{100 * low:.0f}, {100 * high:.0f}]"


_DATA = ROOT / "docs" / "results" / "data"


def _evidence(names: Sequence[str]) -> list[Evidence]:
    """Return the recorded rows of some folders in `docs/results/data`."""
    return [found for name in names if (found := find_evidence(_DATA, name))]


_NETWORKS = {
    "moves": ("large-kgs", "large-tom", "judge-kgs", "judge-tom", "small-kgs", "small-tom"),
    "nine": ("judge-9x9", "small-9x9", "large-9x9"),
}
"""Folders of rows, one per game, that `tengen evaluate network --rows` wrote."""


def _networks(part: str) -> str:
    """Return what networks predict; the independent unit is a game."""
    if part == "halfway":
        return _halfway()
    if part == "teacher":
        return _teacher()
    rows = []
    for games in _evidence(_NETWORKS[part]):
        how, moves = games.run.settings, games["moves"]
        first = Estimate.ratio(games["top1"], moves)
        five = Estimate.ratio(games["top5"], moves)
        loss = games["log_loss"].sum() / moves.sum()
        winner = Estimate.ratio(games["winner"], games["decided"])
        row = [how["model"], ", ".join(Path(each).stem for each in how["games"])]
        row += [f"{len(games)}", f"{moves.sum():,}", show_estimate(first, "%")]
        row += [percent(five.mean), f"{loss:.3f}", show_estimate(winner, "%")]
        rows.append(row)
    head = ["network", "games of", "number", "positions"]
    return _table([*head, "first choice", "first five", "log loss", "winner"], rows)


def _halfway() -> str:
    """Return how well networks know score and owners, from rows of `benchmarks/half_way.py`."""
    rows = []
    for games in _evidence(["judge-scored", "large-scored", "small-scored"]):
        for name, part in (("all", games), ("held out", games.where(held_out=1))):
            error = show_estimate(Estimate.of(part["score_error"]), "points")
            owners = show_estimate(Estimate.shares(part["ownership"]), "%")
            rows.append([games.run.settings["model"], name, f"{len(part)}", error, owners])
    head = ["network", "games of kgs6d-scored-dev", "number"]
    return _table([*head, "mean error of the score", "owners right"], rows)


def _teacher() -> str:
    """Return how close a network is to its teacher, by `benchmarks/judge_agreement.py`."""
    rows = []
    for games in _evidence(["teacher-kgs", "teacher-9x9"]):
        how, positions = games.run.settings, games["positions"]
        same, played, winner, lead = (
            Estimate.ratio(games[name], positions)
            for name in ("teachers_choice", "move_played", "winner_off", "lead_off")
        )
        row = [
            ", ".join(how["games"]),
            f"{len(games)}",
            f"{positions.sum():,}",
            show_estimate(same, "%"),
        ]
        row += [show_estimate(lead, "points"), show_estimate(winner, "%")]
        rows.append([*row, show_estimate(played, "%")])
    head = ["games of", "number", "positions", "the teacher's first choice", "lead off by"]
    return _table([*head, "winning probability off by", "people's move"], rows)


def _expert() -> str:
    """Return how well the expert and GNU Go agree, by `benchmarks/expert_against_gnugo.py`."""
    rows = []
    for games in _evidence(["expert"]):
        kinds = {"expert, all openings": games}
        for name, part in games.groups("opening"):
            kinds[f"expert, openings by `{name}`"] = part
        compared = [(name, part["expert"], part["gnugo"]) for name, part in kinds.items()]
        itself = ("GNU Go itself, other random seed", games["gnugo_again"], games["gnugo"])
        for name, ours, theirs in [*compared, itself]:
            same = int(((ours > 0) == (theirs > 0)).sum())
            correlation = pearsonr(ours, theirs)
            interval = correlation.confidence_interval()
            shown = f"{correlation.statistic:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
            rate = show_estimate(Estimate.rate(same, len(ours)), "%")
            rows.append([name, len(ours), rate, shown])
    head = ["agreement with GNU Go, level 1", "openings", "same winner", "correlation of scores"]
    return _table(head, rows)


def _finished() -> str:
    """Return how many records are called finished, by `benchmarks/finished.py`."""
    rows = []
    for records in _evidence(["finished-kgs", "finished-9x9", "finished-9x9-alone"]):
        how, whole = records.run.settings, records["share"] == 1
        name = f"{Path(how['games']).stem}, {whole.sum()}"
        row = [name if how["network"] else f"{name}, `--without-network`"]
        for _, part in records.groups("share"):
            called = Estimate.rate(int(part["finished"].sum()), len(part))
            row.append(show_estimate(called, "%"))
        rows.append(row)
    shares = ["40 % of the moves", "65 %", "85 %", "all, no passes"]
    return _table(["games", *shares], rows)


def _quick() -> str:
    """Return how many mistakes of a quick review are false, by `benchmarks/quick_mistakes.py`."""
    rows = []
    for games in _evidence(["quick-9x9"]):
        for n in (1, *games.run.settings["visits"]):
            named, false = games[f"named_{n}"], games[f"false_{n}"]
            name = "one evaluation" if n == 1 else f"{n} visits"
            share = show_estimate(Estimate.ratio(false, named).as_share(), "%")
            kept = show_estimate(Estimate.ratio(named - false, games["true"]).as_share(), "%")
            per_game = f"{false.mean():.2f}"
            rows.append([name, named.sum(), share, per_game, "all" if n == 1 else kept])
    return _table(["called a mistake by", "moves", "false", "false per game", "of the true"], rows)


_STUDY = {
    "tying": {
        "tied by the eight symmetries": "tied",
        "untied, as many weights": "untied, equal weights",
        "untied, as many operations": "untied, equal operations",
        "untied, as many weights, random symmetries": "untied, equal weights, turned",
        "untied, as many operations, random symmetries": "untied, equal operations, turned",
    },
    "sizes": {
        "4 fields, 9 blocks": "4 fields, 9 blocks",
        "8 fields, 3 blocks": "8 fields, 3 blocks",
        "8 fields, 6 blocks": "8 fields, 6 blocks",
        "8 fields, 9 blocks": "tied",
        "8 fields, 12 blocks": "8 fields, 12 blocks",
        "12 fields, 9 blocks": "12 fields, 9 blocks",
        "16 fields, 9 blocks": "16 fields, 9 blocks",
    },
    "inputs": {
        "everything": "tied",
        "no ladders": "no ladders",
        "nothing about the move's effect": "nothing about the move's effect",
        "no liberties": "no liberties",
        "stones and last moves only": "stones and last moves only",
        "all but the last moves": "no last moves",
        "stones only": "stones only",
    },
    "games": {
        "1,000": "1000 games",
        "10,000": "10000 games",
        "37,000": "37000 games",
        "137,027": "all games",
    },
}
"""The study's trainings by table and row."""


def _study(part: str) -> str:
    """Return a table of the network study; trainings with a second seed show both."""
    file = ROOT / "docs" / "results" / "network-study.jsonl"
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    trainings = {line["name"]: line for line in lines}
    rows = []
    for told, name in _STUDY[part].items():
        made = [trainings[each] for each in (name, f"{name}, seed 2") if each in trainings]
        ends = [each["curve"][-1] for each in made[: None if part == "tying" else 1]]
        hits = ", ".join(f"{100 * end['top1']:.1f}" for end in ends)
        row = [told, f"{hits} %", ", ".join(f"{end['log_loss']:.3f}" for end in ends)]
        if part in ("tying", "sizes"):
            first = made[0]
            row[1:1] = [f"{first['weights']:,}", f"{first['operations'] / 1e6:,.0f}"]
        if part == "games":
            row.append(f"{100 * ends[0]['winner']:.1f} %")
        rows.append(row)
    name = {"inputs": "inputs", "games": "games"}.get(part, "network")
    size = ["weights", "million operations"] if part in ("tying", "sizes") else []
    winner = ["winner right"] if part == "games" else []
    return _table([name, *size, "first choice", "log loss", *winner], rows)


def _ranks() -> str:
    """Return the lines of ranks, their widths for whole games, and their tests."""
    tests = {test["board"]: test for test in fitted()["tests"]}
    rows = []
    for board, line in lines().items():
        test, length = tests[board], _SIDE_MOVES[board]
        widths = (1.96 * deviation(line, games, games * length) for games in (10, 40))
        rows.append(
            [
                board,
                f"{rank_at(line.lowest)} to {rank_at(line.highest)}",
                *(f"± {width:.1f}" for width in widths),
                f"{test['players']}, {test['moves'] / test['players']:.0f} moves each",
                f"{test['error']:.1f}, {test['half_width']:.1f}",
                f"{test['inside']} of {test['players']}",
            ]
        )
    columns = ["board", "ranks", "10 whole games", "40", "test players", "error, half interval"]
    return _table([*columns, "inside"], rows)


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return "Not recorded yet.\n"
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|")


def links_from(page: Path) -> str:
    """Return what leads from a page to the folder `docs`."""
    return "docs/" if page.parent == ROOT else "../" * (len(page.relative_to(ROOT).parts) - 2)


def main() -> int:
    """Write or check all pages; return the exit status."""
    stale = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (new := written(text, links_from(page))) != text:
            stale.append(page)
            if "--check" not in sys.argv:
                page.write_text(new, encoding="utf-8")
    for page in stale:
        print(page, "is not what the rows say" if "--check" in sys.argv else "written")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
