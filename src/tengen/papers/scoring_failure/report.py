"""Tables, plots and verdicts of the paper, computed from rows.

What is independent: a training for classifiers and grown labels, a game for finished scorers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from tengen.lab.decisions import Estimate
from tengen.lab.evidence import Evidence, find_evidence
from tengen.lab.formatting import number, show_estimate
from tengen.lab.papers import read_paper
from tengen.lab.report import Answer, ClaimResult, PaperReport, answer, claim_result, gain_answer
from tengen.lab.result import Dot, Dots, Figure, Line, Plot, Table

PAPER = read_paper("tengen.papers.scoring_failure")
NINE = "ogs-scored-9x9-dev"


def report(data: Path) -> PaperReport:
    """Return what the rows below a folder say."""
    claims: list[ClaimResult] = []
    tables: list[Table] = []
    figures: list[Figure] = []
    questions: list[Answer] = []
    parts: dict[str, Callable[[Evidence], PaperReport]] = {
        "scoring-failure": _failure,
        "scoring-failure-curves": _curves,
        "scoring": _scorers,
        "scoring-bootstrap": _bootstrap,
        "scoring-life": _life,
    }
    for name, part in parts.items():
        evidence = find_evidence(data, name)
        if evidence is not None and len(evidence):
            found = part(evidence)
            claims += found.claims
            tables += found.tables
            figures += found.figures
            questions += found.questions
    return PaperReport(claims, tables, figures, questions)


def _rates(rows: Evidence, hits: str, of: str = "tested") -> Estimate:
    """Return the mean over trainings of a rate; every row is one training."""
    return Estimate.shares((rows[hits] / rows[of]).tolist())


def _powers(rows: Evidence) -> Estimate:
    """Return the mean power of ten of a typical prediction; every row is one training."""
    return Estimate.of(np.log10(np.maximum(rows["typical"], 1e-3)).tolist())


# ----- The paper's classifiers -----


def _failure(rows: Evidence) -> PaperReport:
    counts = sorted({int(games) for games in rows["games"]})
    collection = not rows.run.settings["made"]
    first = rows.where(games=counts[0], part="training")
    claims: list[ClaimResult] = []
    questions: list[Answer] = []

    def of(version: str, games: int = counts[0], part: str = "training") -> Evidence:
        return rows.where(version=version, games=games, part=part)

    for id, claim in PAPER.claims.items():
        if id.startswith("burzillo.exact."):
            wanted = int(id.rpartition(".")[2])
            # Self-made games are fewer than any of the paper's sets: they stand for the smallest.
            games = wanted if collection else counts[0] if wanted == 500 else 0
            if len(found := of("program", games)):
                ours = _rates(found, "exact")
                claims.append(claim_result(claim, ours, found, full=collection))
    for id, version, estimate in (
        ("burzillo.written", "rpnc", lambda found: _rates(found, "exact")),
        ("burzillo.second", "rpnc-linear", lambda found: _rates(found, "exact")),
        ("burzillo.typical", "program", _powers),
        ("burzillo.typical.written", "rpnc", _powers),
        ("burzillo.reasons", "rpnc-sign", _powers),
    ):
        if len(found := of(version)):
            full = collection and counts[0] >= 500
            claims.append(claim_result(PAPER.claims[id], estimate(found), found, full=full))
    if len(found := of("gdxnc")) and len(found) == len(of("rpnc")):
        gains = (found["exact"] - of("rpnc")["exact"]) / found["tested"]
        gain = Estimate.of(gains.tolist())
        questions.append(gain_answer(PAPER, "burzillo.gdxnc", gain, found, unit="%"))
    questions += _which_fault(first)
    if len(found := of("repaired", counts[-1], "held out")):
        ours = _rates(found, "counted")
        text = f"{show_estimate(ours, '%')} after {counts[-1]:,} games"
        questions.append(answer(PAPER, "burzillo.repaired", text, found, ours))
    tables = [_failure_table(rows, games) for games in counts]
    return PaperReport(claims, tables, [_typical(first)], questions)


def _which_fault(rows: Evidence) -> Iterable[Answer]:
    """Answer which fault matters: below the points of a board without it, or still beyond."""
    alone = ("rpnc-sign", "rpnc-squash", "rpnc-smooth", "rpnc-product", "rpnc-checked")
    limit = PAPER.claims["burzillo.typical"].no_effect or 0.0
    calm, unclear, used = [], [], []
    for version in alone:
        found = rows.where(version=version)
        if not len(found):
            continue
        used.append(version)
        low, high = _powers(found).interval or (-math.inf, math.inf)
        name = PAPER.more["versions"][version].partition("without ")[2]
        if high < limit:
            calm.append(name)
        elif low <= limit:
            unclear.append(name)
    if used:
        words = [f"predictions stay on the board without {' and without '.join(calm) or 'none'}"]
        if unclear:
            words.append(f"undecided: {', '.join(unclear)}")
        yield answer(PAPER, "burzillo.fault", "; ".join(words), rows)


def _failure_table(rows: Evidence, games: int) -> Table:
    mine = rows.where(games=games)
    body = []
    trainings = 0
    for version, name in PAPER.more["versions"].items():
        seen, unseen = (mine.where(version=version, part=part) for part in ("training", "held out"))
        if not len(seen):
            continue
        trainings = len(seen)
        dead = unseen["dead_right"] + unseen["dead_wrong"]
        alive = unseen["alive_right"] + unseen["alive_wrong"]
        body.append([
            name, *(number(float(np.median(seen[column]))) for column in ("error", "typical")),
            show_estimate(_rates(seen, "exact"), "%"), show_estimate(_rates(unseen, "exact"), "%"),
            show_estimate(_rates(unseen, "counted"), "%"),
            _share(unseen["dead_right"], dead), _share(unseen["alive_right"], alive),
        ])  # fmt: skip
    trivial = number(float(np.mean(mine.where(part="training")["komi_error"])))
    tested = int(mine.where(part="held out")["tested"][0])
    return Table(
        f"The paper's classifiers on {games:,} games, their faults one by one",
        ["version", "mean error", "typical prediction", "exact, training games",
         "exact, held out", "counted right, held out", "dead blocks found", "living blocks kept"],
        body,
        f"{trainings} trainings of each. Errors and typical (median) predictions in points are "
        "medians over trainings, on the training games; predicting komi and prisoners only errs "
        f"by {trivial} points. {tested:,} games are held out, the same for all trainings. Exact: "
        "the predicted score, rounded to half a point; counted right: by the rules, after the "
        "blocks called dead are removed.",
        key=f"failure-{games}",
    )  # fmt: skip


def _share(hits: Iterable[int], of: Iterable[int]) -> str:
    total = sum(of)
    return f"{sum(hits) / total:.1%}".replace("%", " %") if total else ""


def _typical(rows: Evidence) -> Dots:
    dots = []
    for version, name in PAPER.more["versions"].items():
        found = rows.where(version=version)
        if len(found):
            ours = _powers(found)
            low, high = ours.interval or (ours.mean, ours.mean)
            dots.append(Dot(name, ours.mean, low, high))
    return Dots(
        "Typical prediction on training games", "power of ten (a board has 361 points: 2.6)", dots
    )


def _curves(rows: Evidence) -> PaperReport:
    """Draw the error during training, the median over trainings."""
    games = int(rows["games"].min())
    lines = []
    for version in ("rpnc", "rpnc-sign", "rpnc-linear", "rpnc-all", "gdxnc", "gdxnc-all"):
        mine = rows.where(games=games, version=version)
        if len(mine):
            steps = [(step, float(np.median(at["error"]))) for step, at in mine.groups("step")]
            x, y = zip(*steps, strict=True)
            lines.append(
                Line(PAPER.more["versions"][version], x, [min(max(e, 1e-2), 1e16) for e in y])
            )
    title = f"Mean error on {games:,} training games, median over trainings"
    return PaperReport(figures=[Plot(title, "passes", "points", lines, log=True)])


# ----- Scorers that work -----


def learning(data: Path) -> Plot | None:
    """Return the error of the training that is shown, beside the same with the right sign."""
    rows = find_evidence(data, "scoring-failure-curves")
    if rows is None:
        return None
    seed, games = rows.run.seeds[0], rows.run.settings["games"][0]
    lines = []
    for version, name in (("rpnc", "this training"), ("rpnc-sign", "with the right sign")):
        one = rows.where(version=version, seed=seed, games=games)
        if len(one):
            lines.append(Line(name, one["step"].tolist(), one["error"].tolist()))
    title = f"Mean error on {games} training games, in points"
    return Plot(title, "steps", "points", lines, log=True) if lines else None


def _scorers(rows: Evidence) -> PaperReport:
    claims: list[ClaimResult] = []
    questions: list[Answer] = []
    tables: list[Table] = []
    exact = np.abs(rows["margin"].astype(np.float64) - rows["recorded"]) < 0.01
    names = list(dict.fromkeys(rows["scorer"].tolist()))
    columns = ["scorer", "games", "exact", "right winner", "called safe", "exact when safe"]
    timed = "milliseconds" in rows.columns
    collection = not rows.run.settings["made"]
    for file in dict.fromkeys(rows["file"].tolist()):
        body = []
        for scorer in names:
            mine = (rows["file"] == file) & (rows["scorer"] == scorer)
            if not mine.any():
                continue
            hits, total = int(exact[mine].sum()), int(mine.sum())
            safe = mine & (rows["safe"] == 1)
            won = np.sign(rows["margin"][mine]) == np.sign(rows["recorded"][mine])
            ours = Estimate.rate(hits, total)
            row = [
                scorer, f"{total:,}", show_estimate(ours, "%"),
                show_estimate(Estimate.rate(int(won.sum()), total), "%"),
            ]  # fmt: skip
            judged = scorer == "shipped" or scorer.startswith("trained")
            row += [
                _share([int(safe.sum())], [total]) if judged else "",
                _share([int(exact[safe].sum())], [int(safe.sum())]) if judged else "",
            ]
            if timed:
                row.append(number(float(rows["milliseconds"][mine].mean())))
            body.append(row)
            if scorer == "shipped":
                found = rows.where(file=file, scorer=scorer)
                if file == NINE or not collection:
                    claim = PAPER.claims["werf.exact"]
                    claims.append(
                        claim_result(claim, ours, found, full=collection, independent="game")
                    )
                if file != NINE and not any(q.id == "burzillo.scores" for q in questions):
                    text = f"yes: {show_estimate(ours, '%')} of {file}"
                    low = 0.0 if ours.interval is None else ours.interval[0]
                    if low < 0.5:
                        text = text.replace("yes", "undecided")
                    questions.append(
                        answer(PAPER, "burzillo.scores", text, found, ours, independent="game")
                    )
        how = rows.where(file=file)["count"][0]
        tables.append(
            Table(
                f"Finished games scored: {file} ({how} count)",
                [*columns, "ms per game"] if timed else columns, body,
                "Games none of these scorers was trained on; a game is independent of others.",
                key=f"scorers-{file}",
            )
        )  # fmt: skip
    return PaperReport(claims, tables, [], questions)


# ----- Labels grown from a few games -----


def _bootstrap(rows: Evidence) -> PaperReport:
    body = []
    lines: dict[str, list[tuple[int, Estimate]]] = {}
    for flips, ways in ((0, "as in the paper"), (1, "with flipped groups")):
        for first, mine in rows.where(flips=flips).groups("first"):
            held = _rates(mine, "held_right", "held_out")
            row = [
                f"{first} labelled games" if first else "playouts, no labelled game", ways,
                show_estimate(_rates(mine, "labelled", "games"), "%"),
                show_estimate(Estimate.ratio(mine["wrong"], mine["blocks"]).as_share(), "%"),
                show_estimate(held, "%"), f"{held.spread:.2%}".replace("%", " %"),
                show_estimate(_rates(mine, "nine_right", "nine"), "%") if mine["nine"][0] else "",
            ]  # fmt: skip
            body.append(row)
            if first:
                lines.setdefault(ways, []).append((first, held))
    trainings = len(rows.where(flips=0, first=rows["first"][0]))
    games, tested = int(rows["games"].max()), int(rows["held_out"][0])
    table = Table(
        "Labels grown from a few labelled games",
        ["begins with", "loop", "games with labels in the end", "wrong labels (blocks)",
         "held-out games counted right", "spread of these over choices", "9x9 games of people"],
        body,
        f"{games:,} games without labels, {tested:,} held out; {trainings} choices of the labelled "
        "games, each a training. A label is wrong if the shipped scorer judges otherwise and "
        "explains the game's score; it is no independent judge, for it has the same features.",
        key="bootstrap",
    )  # fmt: skip
    plot = Plot(
        "Held-out games counted right after growing labels", "labelled games to begin with",
        "share",
        [
            Line(
                name, [x for x, _ in points], [y.mean for _, y in points],
                [(y.interval or (y.mean, y.mean))[0] for _, y in points],
                [(y.interval or (y.mean, y.mean))[1] for _, y in points],
            )
            for name, points in lines.items()
        ],
    )  # fmt: skip
    return PaperReport([], [table], [plot], list(_bootstrap_answers(rows.where(flips=0))))


def _bootstrap_answers(rows: Evidence) -> Iterable[Answer]:
    sizes = [int(first) for first, _ in rows.groups("first") if first]
    if not sizes:
        return
    twenty = rows.where(first=min(sizes, key=lambda first: abs(first - 20)))
    grown = _rates(twenty, "labelled", "games")
    text = f"{show_estimate(grown, '%')} of {int(twenty['games'][0]):,} games"
    yield answer(PAPER, "burzillo.bootstrap", text, twenty, grown)
    wrong = Estimate.ratio(twenty["wrong"], twenty["blocks"]).as_share()
    yield answer(PAPER, "burzillo.bootstrap.wrong", show_estimate(wrong, "%"), twenty, wrong)
    few, many = rows.where(first=min(sizes)), rows.where(first=max(sizes))
    if len(few) == len(many) and min(sizes) < max(sizes):
        gains = (many["held_right"] - few["held_right"]) / many["held_out"]
        yield gain_answer(
            PAPER, "burzillo.bootstrap.first", Estimate.of(gains.tolist()), rows, unit="%"
        )
    held = _rates(twenty, "held_right", "held_out")
    chance = math.sqrt(max(held.mean * (1 - held.mean), 0.0) / int(twenty["held_out"][0]))
    text = f"spread {held.spread:.2%} over {held.units} choices; the same games for all"
    text += f" (drawing other test games would give {chance:.2%})"
    yield answer(PAPER, "burzillo.bootstrap.choice", text.replace("%", " %"), twenty, held)
    if twenty["nine"][0]:
        nine = _rates(twenty, "nine_right", "nine")
        yield answer(PAPER, "werf.scoring", show_estimate(nine, "%"), twenty, nine)


# ----- Life and death during the game -----


def _life(rows: Evidence) -> PaperReport:
    body, middle = [], None
    for share, mine in rows.groups("share"):
        body.append([
            f"{share:.0%}".replace("%", " %"), f"{int(mine['blocks'][0]):,}",
            *(show_estimate(_rates(mine, who, "blocks"), "%")
              for who in ("right", "playouts", "alive")),
        ])  # fmt: skip
        if middle is None or abs(share - 0.5) < abs(middle["share"][0] - 0.5):
            middle = mine
    assert middle is not None
    table = Table(
        "Blocks whose survival is predicted right during the game",
        ["moves played", "blocks", "learned from grown labels", "playouts", "all alive"], body,
        f"Labels grown from {rows.run.settings['first']} games; a block survives if its colour "
        f"owns most of its points at the end. {int(rows['games'][0]):,} games held out.",
        key="life",
    )  # fmt: skip
    gain = Estimate.of(((middle["right"] - middle["alive"]) / middle["blocks"]).tolist())
    question = gain_answer(PAPER, "werf.life", gain, middle, unit="%")
    return PaperReport([], [table], [], [question])
