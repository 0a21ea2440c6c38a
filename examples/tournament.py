"""Play a round robin and print Elo ratings with 95 % intervals."""

from tengen.arena import Database, parse_tournament, results_of, run_tournament

players = {"random": "random", "liberties": "maxlib", "static": "static"}
tournament = parse_tournament({"kind": "round-robin", "size": 5, "players": players})
with Database.open("tournament.sqlite", tournament) as database:
    run_tournament(tournament, database)
    for standing in results_of(database).standings:
        assert standing.rating is not None
        print(f"{standing.name:10} {standing.rate:6.1%} Elo {standing.rating.elo:7.0f}")
