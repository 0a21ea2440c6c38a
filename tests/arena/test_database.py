"""The results database: one row a game, one writer, nothing lost, strangers refused."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest

from tengen.arena import Database, play_game, results_of
from tengen.errors import BusyError, TengenError


def alter(path, *commands: str) -> None:
    """Change a database by hand."""
    connection = sqlite3.connect(path)
    with connection:
        for command in commands:
            connection.execute(command)
    connection.close()


def some_game(job, scripted, **options):
    return play_game(job(**options), scripted("b", ["C3"]), scripted("w", ["C2", "resign"]))


def test_games_are_kept_with_everything(tmp_path, tournament, job, scripted) -> None:
    path = tmp_path / "deep" / "r.sqlite"
    game = some_game(job, scripted)
    with Database.open(path, tournament()) as database:
        database.add(game)
    with Database.look(path) as database:
        (row,) = database.games()
        assert database.tournament == tournament()
    assert (row.black, row.white, row.result, row.winner) == ("anna", "bert", "B+R", "anna")
    assert row.key == ("anna", "bert", 0)
    assert row.moves == game.vertices
    assert row.sgf == game.sgf()
    assert (row.seed, row.reason, row.plies) == (17, game.reason, len(game.moves))
    assert not list(tmp_path.glob("**/*-wal"))


def test_a_game_is_there_only_once(tmp_path, tournament, job, scripted) -> None:
    with Database.open(tmp_path / "r.sqlite", tournament()) as database:
        database.add(some_game(job, scripted))
        with pytest.raises(TengenError, match="already exists"):
            database.add(some_game(job, scripted))
        database.add(some_game(job, scripted, swapped=True))
        assert database.finished() == {("anna", "bert", 0), ("anna", "bert", 1)}


def test_two_runs_on_one_database_are_refused(tmp_path, tournament) -> None:
    path = tmp_path / "r.sqlite"
    with Database.open(path, tournament()):
        with pytest.raises(BusyError, match=str(os.getpid())):
            Database.open(path, tournament())
        with Database.look(path) as database:
            assert database.games() == []
    Database.open(path, tournament()).close()


def test_the_lock_dies_with_its_owner(tmp_path, tournament) -> None:
    path = tmp_path / "r.sqlite"
    script = f"""
        import time
        from tengen.arena import Database, parse_tournament
        players = {{"a": {{"spec": "random"}}, "b": {{"spec": "random"}}}}
        kept = Database.open({str(path)!r}, parse_tournament({{"players": players}}))
        print("locked", flush=True)
        time.sleep(60)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"locked\n"
        with pytest.raises(BusyError, match=str(owner.pid)):
            Database.open(path, tournament())
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    settings = {"entrants": [{"name": n, "spec": "random"} for n in "ab"], "kind": "match"}
    same = tournament(**settings, seed=0, conditions={}, games=20)
    Database.open(path, same).close()


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 6},
        {"conditions": {"rows": 5, "cols": 5, "komi": 0.5}},
        {"openings": {"plies": 3}},
        {"kind": "match", "entrants": [{"name": n, "spec": "maxlib"} for n in ("random", "new")]},
    ],
)
def test_another_tournament_is_refused(tmp_path, tournament, change) -> None:
    path = tmp_path / "r.sqlite"
    Database.open(path, tournament()).close()
    with pytest.raises(TengenError, match=r"r\.sqlite"):
        Database.open(path, tournament(**change))
    Database.open(path, tournament()).close()


def test_more_games_and_players_are_welcome(tmp_path, tournament) -> None:
    path = tmp_path / "r.sqlite"
    Database.open(path, tournament()).close()
    entrants = [{"name": name, "spec": "random"} for name in ("random", "new")]
    with Database.open(path, tournament(games=10, entrants=entrants)) as database:
        stored = database.tournament
    assert stored.games == 10
    assert {e.name for e in stored.entrants} == {"random", "new", "maxlib", "stone"}


def test_strange_files_are_refused(tmp_path, tournament) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("not a database, but long enough to be taken for a broken header" * 9)
    other = tmp_path / "other.sqlite"
    alter(other, "CREATE TABLE t (x)")
    for path in (text, other):
        with pytest.raises(TengenError, match="no results database"):
            Database.open(path, tournament())
        with pytest.raises(TengenError, match="no results database"):
            Database.look(path)
    with pytest.raises(TengenError, match="no such"):
        Database.look(tmp_path / "none.sqlite")
    path = tmp_path / "r.sqlite"
    Database.open(path, tournament()).close()
    alter(path, "UPDATE meta SET value = '99' WHERE key = 'format'")
    with pytest.raises(TengenError, match="format 99"):
        Database.look(path)


def test_a_shipped_file_can_be_read_where_nothing_may_be_written(
    tmp_path, tournament, job, scripted
) -> None:
    path = tmp_path / "shipped" / "ladder.sqlite"
    with Database.open(tmp_path / "r.sqlite", tournament()) as database:
        database.add(some_game(job, scripted))
    with Database.look(tmp_path / "r.sqlite") as database:
        database.copy_to(path)
        with pytest.raises(TengenError, match="already exists"):
            database.copy_to(path)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with Database.look(path) as database:
            assert len(database.games()) == 1
    finally:
        path.parent.chmod(0o755)


def test_a_damaged_file_is_reported_by_name(tmp_path, tournament, job, scripted) -> None:
    path = tmp_path / "r.sqlite"
    with Database.open(path, tournament()) as database:
        database.add(some_game(job, scripted))
    alter(path, "DROP TABLE games", "UPDATE meta SET value = '{' WHERE key = 'tournament'")
    with Database.look(path) as database:
        for look in (database.games, database.finished, lambda: database.tournament):
            with pytest.raises(TengenError, match=r"r\.sqlite"):
                look()


def test_no_page_can_be_lost_or_overwritten_unnoticed(tmp_path, tournament, job, scripted) -> None:
    path, broken = tmp_path / "r.sqlite", tmp_path / "broken.sqlite"
    names = [{"name": name, "spec": "random"} for name in ("anna", "bert")]
    with Database.open(path, tournament(entrants=names)) as database:
        for number in range(20):
            game = some_game(job, scripted)
            database.add(replace(game, job=replace(game.job, key=("anna", "bert", number))))
    with Database.look(path) as database:
        assert len(results_of(database).rows) == 20
    whole, page = path.read_bytes(), 4096
    pages = [whole[at : at + page] for at in range(0, len(whole), page)]
    assert len(pages) > 8
    for number in range(1, len(pages)):
        for other in (b"", bytes(page), pages[number - 1], pages[number][: page // 2]):
            after = pages[number + 1 :] if len(other) == page else []
            broken.write_bytes(b"".join([*pages[:number], other, *after]))
            refused = pytest.raises(TengenError, match=r"broken\.sqlite")
            with refused, Database.look(broken) as database:
                results_of(database)


def test_rows_that_are_no_games_of_its_players_are_damage(
    tmp_path, tournament, job, scripted
) -> None:
    path = tmp_path / "r.sqlite"
    for damage in ("black = 'anne'", "a = 'ann', black = 'ann'", "versions = '{'", "plies = 'x'"):
        path.unlink(missing_ok=True)
        with Database.open(path, tournament()) as database:
            database.add(some_game(job, scripted))
        alter(path, f"UPDATE games SET {damage}")
        refused = pytest.raises(TengenError, match=r"r\.sqlite: damaged")
        with refused, Database.look(path) as database:
            results_of(database)
