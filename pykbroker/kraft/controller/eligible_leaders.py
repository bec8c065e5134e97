"""What eligible leader replicas require of `min.insync.replicas` (KIP-966).

Which replicas are eligible depends on this key. While the feature is enabled, the cluster has one
value of it, topics may have others, and no broker has its own.
Functions over the controller's state: they return the records that have to be written.
Source: Kafka's `ConfigurationControlManager.java`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pykbroker.decision import MetadataRecord
from pykbroker.environment.slices import paced
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import BROKER_RESOURCE, TOPIC_RESOURCE
from pykbroker.protocol.messages.clear_elr_record import ClearElrRecord
from pykbroker.protocol.messages.config_record import ConfigRecord

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


def clear_eligible_leaders(
    state: ControllerState, records: Sequence[MetadataRecord]
) -> list[MetadataRecord]:
    """Return the records that must follow these if they change `min.insync.replicas` (KIP-966).

    Replicas were eligible under the former value: one topic, or all, must forget them.
    """
    if not state.has_eligible_leaders:
        return []
    cleared = []
    for record in paced(records, state.breathe):
        message = record.message
        if isinstance(message, ConfigRecord) and message.name == MIN_INSYNC_REPLICAS:
            is_topic = message.resource_type == TOPIC_RESOURCE
            name = message.resource_name if is_topic else ""
            cleared.append(MetadataRecord(ClearElrRecord(topic_name=name)))
    return cleared


def cluster_min_isr(state: ControllerState) -> MetadataRecord:
    """Return the cluster-wide setting that eligible leader replicas require."""
    return MetadataRecord(
        ConfigRecord(
            resource_type=BROKER_RESOURCE,
            name=MIN_INSYNC_REPLICAS,
            value=str(state.static_config.min_insync_replicas),
        )
    )


def settings_for_eligible_leaders(state: ControllerState) -> list[MetadataRecord]:
    """Return the records that make `min.insync.replicas` one value for the
    cluster, if it is not yet.
    """
    records = []
    if MIN_INSYNC_REPLICAS not in state.image.cluster_config():
        records.append(cluster_min_isr(state))
    for (kind, name), entries in state.image.configs.items():
        if kind == BROKER_RESOURCE and name and MIN_INSYNC_REPLICAS in entries:
            removed = ConfigRecord(
                resource_type=kind, resource_name=name, name=MIN_INSYNC_REPLICAS, value=None
            )
            records.append(MetadataRecord(removed))
    return records
