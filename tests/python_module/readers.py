# SPDX-License-Identifier: Apache-2.0
"""pandas, polars, DuckDB and pyarrow read the tables of the Python package in place.

    PYTHONPATH=build/release/share/vramscope/site-packages PYTHON tests/python_module/readers.py [TRACE]

PYTHON has the four packages. Compares each value with Table.column(), and addresses, which are equal where nothing was copied."""

import sys
from pathlib import Path
from typing import Any, List

import duckdb
import pandas
import polars
import pyarrow

import vramscope

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "trace_format/testdata/v1_training.vms"
TABLES = ("events", "blocks", "series", "stacks", "operators", "segments")


def known(values: List[Any]) -> List[Any]:
    """pandas has NA or NaN where a value is missing."""
    return [None if value is pandas.NA or value != value else value for value in values]


def check(name: str, table: vramscope.Table) -> None:
    arrow = pyarrow.table(table)
    arrow.validate(full=True)
    readers = {"pyarrow": arrow.to_pydict(), "polars": polars.DataFrame(table).to_dict(as_series=False), "pandas": table.to_pandas().to_dict("list"),
               "duckdb": duckdb.sql("SELECT * FROM arrow").to_arrow_table().to_pydict()}
    for column in table.column_names:
        expected = table.column(column)
        for reader, found in readers.items():
            assert known(found[column]) == expected, (name, column, reader)
    if len(table):
        number = next(column for column in table.column_names if table.words(column) is None and table.present(column) is None)
        ours = pyarrow.py_buffer(table.columns[number]).address
        assert arrow[number].chunk(0).buffers()[1].address == ours, f"{name}: pyarrow copied {number}"
        assert polars.DataFrame(table)[number].to_numpy(allow_copy=False).__array_interface__["data"][0] == ours, f"{name}: polars copied {number}"


def main() -> None:
    run = vramscope.open(sys.argv[1] if len(sys.argv) > 1 else EXAMPLE)
    for name in TABLES:
        check(name, getattr(run, name)())
    batch = pyarrow.record_batch(run.events())
    assert batch.num_rows == len(run.events())
    blocks = run.blocks().to_arrow()  # noqa: F841  DuckDB finds it by its name
    ((total,),) = duckdb.sql("SELECT sum(bytes) FROM blocks WHERE peak_category IS NOT NULL").fetchall()
    print(f"pyarrow {pyarrow.__version__}, polars {polars.__version__}, pandas {pandas.__version__}, duckdb {duckdb.__version__}: "
          f"{len(TABLES)} tables equal; {total:,} bytes live at the peak")


if __name__ == "__main__":
    main()
