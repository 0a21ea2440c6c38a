"""Data frames and Parquet files of games, reviews and matches."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.needs import need

import tengen
from tengen.cli import run

pandas = need("pandas")

GAMES = (
    "(;SZ[9]KM[7]RU[Chinese]PB[Anna]BR[6 dan]PW[Bert]DT[2020-02-03]RE[B+R];B[ee];W[ce];B[gc])"
    "(;SZ[9:7]RE[W+2.5];B[bb])(;SZ[9];B[zz])"
)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.sgf"
    path.write_text(GAMES)
    return path


def test_a_corpus_has_one_row_per_game(games: Path) -> None:
    corpus = tengen.Corpus(games)
    frame = corpus.to_frame()
    assert len(frame) == 2 == len(corpus) and corpus.damaged == 1
    first, second = frame.to_dict("records")
    assert (first["black"], first["black_rank"], first["date"]) == ("Anna", "6d", "2020-02-03")
    assert (first["winner"], first["moves"], first["komi"]) == ("black", 3, 7)
    assert (second["rows"], second["cols"], second["score"]) == (7, 9, -2.5)
    assert pandas.isna(first["score"]) and second["game"] == 2
    nothing = corpus.filter(lambda record: False).to_frame()
    assert len(nothing) == 0 and list(nothing.columns) == list(frame.columns)


def test_a_review_has_one_row_per_move(games: Path) -> None:
    review = tengen.review(next(iter(tengen.Corpus(games))), quick=True)
    frame = review.to_frame()
    assert frame.to_dict("records")[1]["move"] == "C5"
    assert list(frame["points_lost"]) == [move.to_dict()["points_lost"] for move in review.moves]
    assert {"number", "winrate", "best"} <= set(frame.columns)


def test_matches_are_written_as_parquet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, out = str(tmp_path / "games.sqlite"), tmp_path / "games.parquet"
    match = "arena match random maxlib --size 5 --games 4 --quiet --out"
    assert run([*match.split(), database]) == 0
    assert run(["arena", "export", database, "--out", str(out)]) == 0, capsys.readouterr().err
    frame = pandas.read_parquet(out)
    assert run(["arena", "export", database, "--out", str(tmp_path / "games.csv")]) == 0
    sheet = pandas.read_csv(tmp_path / "games.csv")
    assert len(frame) == 4 and list(frame.columns) == list(sheet.columns)
    assert list(frame["winner"]) == list(sheet["winner"])
