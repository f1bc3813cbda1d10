# SPDX-License-Identifier: Apache-2.0
"""A table of a run, in the memory of the C library: pandas, polars, DuckDB, pyarrow and NumPy read it without a copy."""

import ctypes
import weakref
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import library
from .errors import Error

if TYPE_CHECKING:
    import numpy


class _Column(NamedTuple):
    format: bytes  # "l", "i" or "b"
    length: int
    missing: int
    validity: Optional[int]  # address of the bits, least significant first; None: no value is missing
    values: int
    words: Optional[List[str]]  # of a text column: values are numbers of these


class Table:
    """Columns of equal length. A value that is not known is missing: None in Python, null in Arrow.

    Numbers are 64-bit or 32-bit integers. Bytes are in columns that end in `_bytes` (and in `bytes`), nanoseconds since the start of the trace in
    columns that end in `_ns`. Texts are dictionary-encoded.

    >>> blocks = vramscope.open(example).blocks()
    >>> len(blocks), blocks.column_names[:4]
    (332, ['block', 'process', 'device', 'address'])
    >>> sum(row["bytes"] for row in blocks.rows() if row["peak_category"]) == vramscope.open(example).peak.allocated_bytes
    True
    """

    def __init__(self, handle: int) -> None:
        """Takes ownership of a table of the C library; see Run for how to get one."""
        loaded = library.library()
        self._handle = handle
        schema, array = loaded.vramscope_python_schema(handle), loaded.vramscope_python_array(handle)

        def release() -> None:
            loaded.vramscope_python_drop_array(array)
            loaded.vramscope_python_drop_schema(schema)
            loaded.vramscope_python_release(handle)

        weakref.finalize(self, release).atexit = False  # at exit, views of it may still be in use
        if not schema or not array:
            raise MemoryError("there is not enough memory to export a table")
        self._read(library.ArrowSchema.from_address(schema), library.ArrowArray.from_address(array))

    def _read(self, schema: Any, array: Any) -> None:
        self._length = int(array.length)
        self._columns: Dict[str, _Column] = {}
        for index in range(schema.n_children):
            field, column = schema.children[index].contents, array.children[index].contents
            words = _texts(column.dictionary.contents) if field.dictionary else None
            self._columns[field.name.decode()] = _Column(field.format, self._length, column.null_count, column.buffers[0], column.buffers[1], words)

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError("a table cannot be copied or pickled, because its memory belongs to the C library: use to_arrow() or list(table.rows())")

    def __len__(self) -> int:
        """The number of rows."""
        return self._length

    def __repr__(self) -> str:
        return f"<vramscope.Table of {self._length:,} rows: {', '.join(self._columns)}>"

    @property
    def column_names(self) -> List[str]:
        """The names of the columns, in order."""
        return list(self._columns)

    @property
    def columns(self) -> Dict[str, memoryview]:
        """The values of each column where they are, without a copy: shape (rows,), format "q" or "i". A missing value is 0 there (see `present`).
        The values of a text column are indexes into `words(name)`; those of a truth column are bits, 8 rows in each byte."""
        return {name: self._view(column) for name, column in self._columns.items()}

    def words(self, name: str) -> Optional[List[str]]:
        """The different texts of a text column; None for other columns."""
        return self._named(name).words

    def present(self, name: str) -> Optional[memoryview]:
        """The validity bits of a column, 8 rows in each byte, least significant bit first; None: no value is missing."""
        column = self._named(name)
        return None if column.validity is None else self._bytes(column.validity, (column.length + 7) // 8)

    def column(self, name: str) -> List[Any]:
        """The values of one column as Python objects: int, str or bool, None where a value is missing.

        >>> sorted(set(vramscope.open(example).blocks().column("phase")))
        ['backward', 'data', 'forward', 'other']
        """
        column = self._named(name)
        view = self._view(column)
        values: List[Any] = [bool(bit) for bit in _bits(view, column.length)] if column.format == b"b" else view.tolist()
        if column.words is not None:
            words = column.words or [""]
            values = [words[code] for code in values]
        bits = self.present(name)
        if bits is not None:
            values = [value if there else None for value, there in zip(values, _bits(bits, column.length))]
        return values

    def rows(self) -> Iterator[Dict[str, Any]]:
        """The rows one after the other, each a dict by name of the column."""
        names = self.column_names
        for values in zip(*(self.column(name) for name in names)):
            yield dict(zip(names, values))

    def to_numpy(self) -> "Dict[str, numpy.ndarray[Any, Any]]":
        """NumPy arrays of shape (rows,) by name of the column. Numbers without missing values share the table's memory, read-only; with missing values
        they are masked arrays over it. Texts are arrays of str, with None where a value is missing.

        >>> series = vramscope.open(example).series().to_numpy()
        >>> int(series["allocated_bytes"].max()) == vramscope.open(example).peak.allocated_bytes
        True
        """
        import numpy

        arrays: Dict[str, Any] = {}
        for name, column in self._columns.items():
            if column.words is not None:
                texts = numpy.array([*column.words, None], dtype=object)
                codes = numpy.frombuffer(self._view(column), dtype=numpy.int32)
                arrays[name] = texts[codes if column.validity is None else numpy.where(self._mask(name), len(column.words), codes)]
                continue
            values = numpy.asarray(self._view(column))
            if column.format == b"b":
                values = numpy.unpackbits(values, count=column.length, bitorder="little").astype(bool)
            values.flags.writeable = False
            arrays[name] = values if column.validity is None else numpy.ma.array(values, mask=self._mask(name), copy=False)
        return arrays

    def to_arrow(self) -> Any:
        """The table as a pyarrow.Table that shares its memory."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame, through pyarrow. Integers stay exact: their types are Int64 and Int32, texts are categories."""
        import pandas
        import pyarrow

        exact = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.int32(): pandas.Int32Dtype()}
        return self.to_arrow().to_pandas(types_mapper=exact.get)

    def to_polars(self) -> Any:
        """The table as a polars.DataFrame that shares its memory."""
        import polars

        return polars.DataFrame(self)

    def __arrow_c_schema__(self) -> Any:
        """The columns and their types, for the Arrow PyCapsule interface."""
        return library.capsule("schema", self._handle)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        """The table as one struct array. `requested_schema` is ignored, as the interface allows."""
        return library.capsule("schema", self._handle), library.capsule("array", self._handle)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table as a stream of one record batch. `requested_schema` is ignored, as the interface allows."""
        return library.capsule("stream", self._handle)

    def _named(self, name: str) -> _Column:
        if name not in self._columns:
            raise Error(f"This table has no column '{name}'. It has: {', '.join(self._columns)}.")
        return self._columns[name]

    def _bytes(self, address: int, length: int) -> memoryview:
        """A view that keeps the table alive."""
        if length == 0:
            return memoryview(b"")
        held = (ctypes.c_uint8 * length).from_address(address)
        held.table = self  # type: ignore[attr-defined]
        return memoryview(held).cast("B").toreadonly()

    def _view(self, column: _Column) -> memoryview:
        if column.format == b"b":
            return self._bytes(column.values, (column.length + 7) // 8)
        if column.format == b"l":
            return self._bytes(column.values, column.length * 8).cast("q")
        return self._bytes(column.values, column.length * 4).cast("i")

    def _mask(self, name: str) -> Any:
        import numpy

        bits = numpy.asarray(self.present(name))
        return numpy.unpackbits(bits, count=self._length, bitorder="little") == 0


def _bits(view: memoryview, count: int) -> Iterator[int]:
    return (view[row >> 3] >> (row & 7) & 1 for row in range(count))


def _texts(words: Any) -> List[str]:
    """The texts of an exported array of type "u"."""
    count = int(words.length)
    if count == 0:
        return []
    offsets = (ctypes.c_int32 * (count + 1)).from_address(words.buffers[1])
    data = ctypes.string_at(words.buffers[2], offsets[count])
    return [data[offsets[index] : offsets[index + 1]].decode("utf-8", "replace") for index in range(count)]
