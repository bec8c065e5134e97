"""The files of a segment: where those are that do not exist yet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pykbroker.offline.partition_files import SegmentFiles


@pytest.mark.parametrize(
    "path, index",
    [
        ("/a/t-0/0001.log", "/a/t-0/0001.txnindex"),
        ("/a/t-0/0001.log.swap", "/a/t-0/0001.txnindex"),
        ("s3://b/t-0/0001.log?region=eu", "s3://b/t-0/0001.txnindex?region=eu"),
    ],
)
def test_the_transaction_index_is_beside_the_log(path: str, index: str) -> None:
    files = SegmentFiles(1, path, 9, None, None, None)
    assert files.transaction_index == index
    assert files.beside(".index") == index.replace(".txnindex", ".index")
    assert replace(files, txn_index_path="/b").transaction_index == "/b"
