"""Rows of Parquet files, as the Hugging Face Hub keeps data sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evalkit.errors import MissingExtraError, TasksetError
from evalkit.tasksets.records import Located

PARQUET = ".parquet"
INSTALL_HF = "pip install 'quant-evalkit[hf]'"
_BATCH = 1000


def parquet_records(path: Path) -> Iterator[Located]:
    """Yield the rows of a Parquet file.

    Raises:
        MissingExtraError: When its reader is not installed.
        TasksetError: When it cannot be read.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtraError("A Parquet file", INSTALL_HF) from None
    try:
        with ParquetFile(path) as file:
            place = 0
            for batch in file.iter_batches(batch_size=_BATCH):
                for record in batch.to_pylist():
                    yield Located(record, place, f"'{path}' row {place + 1}")
                    place += 1
    except OSError as error:
        raise TasksetError(f"'{path}' cannot be read: {error.strerror or error}.") from None
    except (ArrowException, UnicodeDecodeError) as error:
        raise TasksetError(f"'{path}' is no Parquet file: {str(error).splitlines()[0]}") from None
