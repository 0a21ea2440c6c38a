"""The page of one review as a single HTML file that needs no server.

It is the built page of `tengen web` with its script, its style sheet and the review's data inlined.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from html import escape
from pathlib import Path

from tengen.review.game import Review
from tengen.web.records import whole
from tengen.web.review_tasks import parts_of

STATIC = Path(__file__).parent / "static"


def review_page(review: Review, title: str, index: str = "") -> str:
    """Return the page of a review as HTML; `index` is the address of a page with all games."""
    value = {
        "id": "",
        "status": "done",
        "trouble": "",
        "summary": review.summary(),
        "progress": None,
        "game": whole(review.record),
        "parts": parts_of(review),
        "title": title,
        "index": index,
    }
    data = json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    script, style = _built("app.js"), _built("app.css")
    policy = (
        f"default-src 'none'; script-src {_allowed(script)}; style-src {_allowed(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="content-security-policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<div id="app"></div>\n<script type="application/json" id="review-data">{data}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


@lru_cache
def _built(name: str) -> str:
    """Return a built file, made safe to stand inside an HTML element."""
    return (STATIC / name).read_text(encoding="utf-8").replace("</", "<\\/")


def _allowed(text: str) -> str:
    """Return the source expression of a content policy that allows exactly this text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
