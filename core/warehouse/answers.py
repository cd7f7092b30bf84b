"""What an engine answers: never without end, and of no other types than were asked for.

An engine is another program, perhaps somebody else's: what it sends is judged like a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import AppellateError, WarehouseError
from ..files import write_report

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES = 1200 * 1000**2
"""Most bytes of one answer: ten million votes of ordinary columns have about 710 MB."""


def _endless(place: str) -> WarehouseError:
    return WarehouseError(
        "{place} answers with more than {most} bytes where rows of votes were asked for. Check "
        "that it is what you take it for, or fetch fewer rows with {option}.",
        place=place,
        most=f"{MOST_BYTES:,}",
        option="most_rows",
    )


class Bounded:
    """A stream that ends with a WarehouseError beyond `MOST_BYTES`, whatever it says of itself."""

    closed = False

    def __init__(self, stream: Any, place: str) -> None:
        self._stream, self._place, self._left = stream, place, MOST_BYTES

    def read(self, size: int = -1) -> bytes:
        """As of a file: all that was asked for, unless the stream ends before."""
        parts: list[bytes] = []
        wanted = self._left + 1 if size < 0 else min(size, self._left + 1)
        while wanted > 0 and (part := self._stream.read(wanted)):
            parts.append(part)
            wanted -= len(part)
            self._left -= len(part)
            if self._left < 0:
                raise _endless(self._place)
        return b"".join(parts)


def gathered(reader: Any, place: str) -> pa.Table:
    """All batches of a reader of an answer. Raises WarehouseError beyond `MOST_BYTES`."""
    import pyarrow as pa

    batches, size = [], 0
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        if size > MOST_BYTES:
            raise _endless(place)
    return pa.Table.from_batches(batches, reader.schema)


def is_plain(kind: pa.DataType) -> bool:
    """Whether a column is fetched as it is: numbers, texts, truths, days and times."""
    import pyarrow as pa

    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_null(kind)
        # ADBC gives a numeric of PostgreSQL as text of an opaque type.
        or (isinstance(kind, pa.BaseExtensionType) and "numeric" in str(kind))
    )


def plain(table: pa.Table, place: str) -> pa.Table:
    """Columns of the few types that files have too, decimals as numbers. Raises WarehouseError for
    others.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if isinstance(kind, pa.BaseExtensionType):
            column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
            column = pc.cast(column, pa.float64())
        elif pa.types.is_decimal(kind):
            column = pc.cast(column, pa.float64())
        elif pa.types.is_binary(kind) or pa.types.is_dictionary(kind):
            column = pc.cast(column, pa.string())
        elif not is_plain(kind):
            raise WarehouseError(
                f"{place} answers with {kind} in {name[:40]!r}, where a number or a text was asked "
                "for. Check that it is what you take it for."
            )
        columns.append(column)
    # ClickHouse may say which table a column is of.
    return pa.table(columns, names=[name.rsplit(".", 1)[-1] for name in table.column_names])


@contextmanager
def making_sense(place: str) -> Iterator[None]:
    """Say of what cannot be worked with that the engine answered so.

    It may be an error of ours all the same, so there is a report.
    """
    import pyarrow as pa

    try:
        yield
    except AppellateError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
        report = write_report(error, [place], __version__)
        raise WarehouseError(
            f"{place} answers otherwise than it was asked ({type(error).__name__}: "
            f"{str(error)[:100]}). Check that it is what you take it for; if it is, please report "
            f"this (SECURITY.md){f' with {report}' if report else ''}."
        ) from error
