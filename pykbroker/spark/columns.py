"""The Spark schemas of the views, and the interpretation of a user-supplied schema."""

from __future__ import annotations

from typing import Any

from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from pykbroker.offline import (
    ALL_COLUMNS,
    BATCH_SCHEMA,
    SEGMENT_SCHEMA,
    TRANSACTION_SCHEMA,
    schema_of,
)
from pykbroker.spark.faults import OptionError
from pykbroker.spark.options import SourceOptions


def arrow_schema(options: SourceOptions) -> Any:
    """Return the Arrow schema of the rows selected by these options."""
    if options.view == "batches":
        return BATCH_SCHEMA
    if options.view == "segments":
        return SEGMENT_SCHEMA
    if options.view == "transactions":
        return TRANSACTION_SCHEMA
    return schema_of(options.columns)


def spark_schema(options: SourceOptions) -> StructType:
    """The same for Spark."""
    return from_arrow_schema(arrow_schema(options))


def worker_schema(schema: StructType) -> Any:
    """Return the schema against which Spark checks the record batches of a worker."""
    return to_arrow_schema(schema, timezone="UTC")


def chosen_columns(schema: StructType, options: SourceOptions) -> tuple[str, ...]:
    """Return the columns of a user-supplied schema: a selection and an order,
    but never other types.
    """
    known = schema_of(ALL_COLUMNS) if options.view == "records" else arrow_schema(options)
    types = {each.name: each.dataType for each in from_arrow_schema(known).fields}
    for each in schema.fields:
        if each.name not in types:
            raise OptionError(
                "schema", f"unknown column {each.name!r}; the columns are {', '.join(types)}"
            )
        expected = types[each.name].simpleString()
        if each.dataType.simpleString() != expected:
            raise OptionError(
                "schema", f"{each.name} is {expected}, not {each.dataType.simpleString()}"
            )
    return tuple(each.name for each in schema.fields)
