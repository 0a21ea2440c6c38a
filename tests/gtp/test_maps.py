"""The symmetry network's maps over GTP."""

from __future__ import annotations

from tengen.gtp.commands import MAPS
from tengen.learners.symmetry_network import OUTPUTS


def test_maps_are_drawn_whoever_plays(talk) -> None:
    assert MAPS == OUTPUTS
    talk("boardsize 5", "play b c3")
    for name in MAPS:
        rows = [list(map(float, line.split())) for line in talk(f"tengen-map {name}").split("\n")]
        assert [len(row) for row in rows] == [5] * 5
        # A map is mute, and zero, where its output does not apply.
        assert (rows[2][2] > 0) == name.startswith(("black_dies", "white_eye_by"))
        assert (rows[0][0] > 0) == (name in ("territory", "white_eye", "black_eye"))
    assert talk("tengen-map") == talk("tengen-map territory")
    assert "territory" in talk.refused("tengen-map stars")
