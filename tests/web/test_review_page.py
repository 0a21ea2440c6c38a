"""The page of a review as one file."""

from __future__ import annotations

import json
import re

from tengen.records import loads
from tengen.reviews.game import Review, find_reviewer, review_game
from tengen.reviews.settings import ReviewSettings
from tengen.web.tasks import review_page

EVIL = "</script><script>alert(1)</script>"


def reviewed() -> Review:
    [record] = loads(f"(;SZ[5]PB[{EVIL}]C[{EVIL}];B[cc];W[bb];B[cb])")
    return review_game(record, find_reviewer(5, 5, ReviewSettings(quick=True)))


def test_the_page_holds_everything_and_asks_for_nothing() -> None:
    found = reviewed()
    page = review_page(found, f"a game {EVIL}", "../index.html")
    assert page.count("<script") == 2 == page.count("</script>")  # the data and the program
    assert not re.search(r'(?:src|href)="', page.split("<script", 1)[0])
    assert "default-src 'none'" in page and "unsafe" not in page.split("<style>")[0]
    data = re.search(r'id="review-data">(.*?)</script>', page, re.S)
    assert data is not None
    value = json.loads(data[1])
    assert len(value["parts"]) == len(found.positions) == len(value["game"]["positions"])
    assert value["game"]["black"] == EVIL and value["index"] == "../index.html"
    assert value["parts"][1]["move"]["points_lost"] == round(found.moves[0].points_lost, 3)
    assert len(value["parts"][0]["position"]["ownership"]) == 25
