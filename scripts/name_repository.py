"""Name the public repository in what is about to be released: project.urls and the README's links.

    python scripts/name_repository.py https://github.com/OWNER/NAME v0.3.0

The release workflow runs it before it builds, because only there the address is known. The page of
the package index shows the README, and links to files of the repository lead nowhere from there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)[^)\s]+")
_PICTURE = re.compile(r'(?<=src=")(?![a-z]+:)[^"]+|(?<=srcset=")(?![a-z]+:)[^"]+')
_BEFORE = "[project.optional-dependencies]\n"


def name_repository(root: Path, address: str, tag: str) -> None:
    """Write the address into the files of a checkout."""
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8")
    text = _LINK.sub(lambda found: f"{address}/blob/{tag}/{found[0]}", text)
    text = _PICTURE.sub(lambda found: f"{address}/raw/{tag}/{found[0]}", text)
    readme.write_text(text, encoding="utf-8")
    project = root / "pyproject.toml"
    urls = {"Repository": "", "Issues": "/issues", "Changelog": f"/blob/{tag}/CHANGELOG.md"}
    lines = "".join(f'{name} = "{address}{path}"\n' for name, path in urls.items())
    text = project.read_text(encoding="utf-8")
    text = text.replace(_BEFORE, f"[project.urls]\n{lines}\n{_BEFORE}", 1)
    project.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    name_repository(Path(__file__).parents[1], *sys.argv[1:])
