"""The words of the terminal, for every key and column that docs/analytics.md names."""

from __future__ import annotations

import pytest

from spark_jobs.parts.labels import label
from tests.spark_jobs.test_analytics_page import SUMMARY_KEYS, documented_tables

KEYS = {key for keys in SUMMARY_KEYS.values() for key in keys}
COLUMNS = {
    column
    for tables in documented_tables().values()
    for columns in tables.values()
    for column in columns
}


@pytest.mark.parametrize("name", sorted(KEYS | COLUMNS))
def test_a_label_is_words(name: str):
    words = label(name)
    assert "_" not in words
    assert not {"ms", "mb"} & set(words.split())


def test_keys_of_one_job_have_labels_of_their_own():
    for keys in SUMMARY_KEYS.values():
        assert len({label(key) for key in keys}) == len(keys)


@pytest.mark.parametrize(
    "name, words",
    [
        ("bucket_ms", "bucket (UTC)"),
        ("committed_at_ms", "committed at (UTC)"),
        ("longest_pause_ms", "longest pause"),
        ("encode_mb_per_second", "encode MB per second"),
        ("ack_p99_ms", "p99 time to acknowledgement"),
        ("p99", "p99 bytes"),
        ("p99_ms", "p99"),
        ("oldest_open_timestamp_ms", "oldest open transaction's timestamp (UTC)"),
        ("partitions_shorter_here", "partitions shorter here"),
    ],
)
def test_some_labels(name: str, words: str):
    assert label(name) == words
