"""The records of formatting, where a Kafka before 4.3 kept them."""

from __future__ import annotations

import pytest

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.decision import MetadataRecord
from pykbroker.kraft import metadata_record_codec
from pykbroker.kraft.metadata_bootstrap import bootstrap_of
from pykbroker.kraft.metadata_snapshot import BOOTSTRAP, encode_snapshot
from pykbroker.kraft.storage_format import StorageError
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.testing.world.memory_files import MemoryFiles

PATH = "/disk/bootstrap.checkpoint"


def bootstrap(content: bytes) -> list[MetadataRecord]:
    files = MemoryFiles()
    files.mkdir("/disk")
    files.write_file(PATH, content)
    config = BrokerConfig.from_properties(standalone_properties("/disk"))
    return bootstrap_of(config, files, None)


def encoded() -> bytes:
    level = FeatureLevelRecord(name="metadata.version", feature_level=25)
    batches = encode_snapshot(
        BOOTSTRAP,
        [MetadataRecord(level)],
        kraft_version=0,
        voters=None,
        last_contained_log_timestamp_ms=0,
        now_ms=1000,
    )
    return b"".join(batches)


def test_records_beside_the_metadata_log() -> None:
    (record,) = bootstrap(encoded())
    assert isinstance(record.message, FeatureLevelRecord)
    assert record.message.feature_level == 25


def test_what_cannot_be_decoded_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    content = encoded()
    with pytest.raises(StorageError, match=f"^{PATH}: "):
        bootstrap(content[:-1])
    monkeypatch.setattr(metadata_record_codec, "FRAME_VERSION", 9)
    newer = encoded()
    monkeypatch.undo()
    with pytest.raises(StorageError, match=f"^{PATH}: metadata records of the frame version 9"):
        bootstrap(newer)
