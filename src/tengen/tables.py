"""Tables as pandas data frames and as Parquet files, with the extra `pandas`."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tengen.extras import import_extra, need

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Return rows of plain values as a data frame, which has its columns without rows too."""
    pandas = import_extra("pandas", "pandas")
    return pandas.DataFrame.from_records(list(rows), columns=list(columns))


def parquet(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the content of a Parquet file with these rows."""
    need("pandas", "pandas", "pyarrow")
    content = io.BytesIO()
    data_frame(columns, rows).to_parquet(content, engine="pyarrow", index=False)
    return content.getvalue()
