"""The image that a snapshot of the metadata contains.

Building it takes long when there are very many partitions; a node that runs has a thread do it
before it loads the snapshot.
"""

from __future__ import annotations

from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.kraft.metadata_snapshot import Snapshot


def image_of(snapshot: Snapshot) -> MetadataImage:
    """Return the image; build it unless that was done. Raises InconsistentMetadata."""
    if snapshot.image is not None:
        return snapshot.image
    delta = MetadataDelta(MetadataImage())
    for record in snapshot.records:
        delta.replay(record.message, record.version)
    return delta.apply(
        Provenance(
            snapshot.id.offset - 1, snapshot.id.epoch, snapshot.last_contained_log_timestamp_ms
        )
    )


def with_image(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with its image in place of the records. Raises InconsistentMetadata."""
    return snapshot._replace(image=image_of(snapshot), records=[])
