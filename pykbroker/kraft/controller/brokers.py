"""Broker registration, heartbeats, fencing and shutdown; controller registration.

A newly registered broker is fenced: it leads nothing. Its heartbeats unfence it once it has read
the metadata log up to its own registration (or, if that is older than this controller's term, up to
where the term began)::

    (none) --register--> FENCED --caught up--> UNFENCED --wants to shut down--> CONTROLLED_SHUTDOWN
                           ^  ^------ session runs out / wants fence ------'          |
                           '--- leads nothing, as the others have read: may stop <----'

A broker that leads nothing when it wants to shut down is fenced and may stop at once.

Source: Kafka's `ClusterControlManager.java`, `BrokerHeartbeatManager.java`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.partition_index import Place
from pykbroker.kraft.controller.partitions import (
    broker_comes,
    broker_goes,
    broker_leaves,
    broker_restarts,
    directory_goes,
)
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.metadata_version import (
    KRAFT_VERSION,
    METADATA_VERSION,
    VersionRange,
    register_broker_record_version,
    supports_controller_registration,
    supports_controller_unregistration,
    supports_cordoned_directories,
    supports_directory_assignment,
)
from pykbroker.kraft.partition_image import is_reserved_directory
from pykbroker.kraft.registration import BrokerRegistration
from pykbroker.protocol.messages.broker_heartbeat_response import BrokerHeartbeatResponse
from pykbroker.protocol.messages.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from pykbroker.protocol.messages.broker_registration_response import BrokerRegistrationResponse
from pykbroker.protocol.messages.controller_registration_response import (
    ControllerRegistrationResponse,
)
from pykbroker.protocol.messages.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from pykbroker.protocol.messages.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from pykbroker.protocol.messages.unregister_broker_record import UnregisterBrokerRecord
from pykbroker.protocol.messages.unregister_controller_record import UnregisterControllerRecord

MANY_PARTITIONS: Final = 500
"""So many partitions are changed in slices."""

_FENCE, _UNFENCE = 1, -1
_FIRST_WITH_PREVIOUS_EPOCH: Final = 3


def check_broker_epoch(state: ControllerState, broker_id: int, epoch: int) -> BrokerRegistration:
    """Return the broker's registration if it has this epoch; otherwise raise KafkaError."""
    broker = state.broker(broker_id)
    if broker is None:
        raise KafkaError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"No broker registration found for broker id {broker_id}",
        )
    if broker.epoch != epoch:
        raise KafkaError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"Expected broker epoch {broker.epoch}, but got broker epoch {epoch}",
        )
    return broker


def register_broker(
    state: ControllerState, request: Any, version: int, now_ms: int
) -> Decision[MetadataRecord]:
    """Decide a BrokerRegistrationRequest; the reply carries the broker's epoch. Raises KafkaError
    if the broker must not register, or not yet.

    The epoch of a new incarnation is the offset of the next record of the log, so it only grows.
    """
    if request.cluster_id != state.cluster_id:
        raise KafkaError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"Expected cluster ID {state.cluster_id}, but got cluster ID {request.cluster_id}",
        )
    broker_id = request.broker_id
    existing = state.broker(broker_id)
    is_new = existing is None or existing.incarnation_id != request.incarnation_id
    if (
        existing is not None
        and is_new
        and state.sessions.is_valid(broker_id, existing.epoch, now_ms)
        # The node that runs this controller has restarted, unless its broker has sent heartbeats.
        and (broker_id != state.node_id or state.sessions.has_reported(broker_id))
    ):
        raise KafkaError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            "Another broker is registered with that broker id. If the broker was recently "
            "restarted this should self-resolve once the heartbeat manager expires the broker's "
            "session.",
        )
    if request.is_migrating_zk_broker:
        raise KafkaError(
            ErrorCode.BROKER_ID_NOT_REGISTERED,
            "Controller does not support registering ZK brokers.",
        )
    level = state.metadata_version
    if supports_directory_assignment(level):
        _check_directories(state, broker_id, request.log_dirs)
    record = RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=state.next_offset,
        end_points=[
            BrokerEndpoint(
                name=at.name, host=at.host, port=at.port, security_protocol=at.security_protocol
            )
            for at in request.listeners
        ],
        features=_checked_features(state, request.features),
        rack=request.rack,
    )
    if supports_directory_assignment(level):
        record.log_dirs = list(request.log_dirs)
    records: list[MetadataRecord] = []
    if existing is None or is_new:
        is_clean = _was_clean_shutdown(existing, request, version)
        has_online = BrokerRegistration.from_record(record).has_online
        records += broker_restarts(state, broker_id, is_clean=is_clean, has_online=has_online)
        state.sessions.forget(broker_id)
    else:
        record.fenced = existing.fenced
        record.in_controlled_shutdown = existing.in_controlled_shutdown
        record.broker_epoch = existing.epoch
    records.append(MetadataRecord(record, register_broker_record_version(level)))
    state.sessions.touch(broker_id, record.broker_epoch, now_ms)
    reply = BrokerRegistrationResponse(broker_epoch=record.broker_epoch)
    # Deliberately not atomic: the registration comes last, so that a new controller starts over.
    return Decision(records=records, reply=reply, atomic=False)


def _was_clean_shutdown(existing: BrokerRegistration | None, request: Any, version: int) -> bool:
    """Return whether the broker recorded the currently registered epoch at its last shutdown."""
    if existing is None or version < _FIRST_WITH_PREVIOUS_EPOCH:
        return False
    return bool(existing.epoch == request.previous_broker_epoch)


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REGISTRATION, message)


def _check_directories(state: ControllerState, broker_id: int, directories: list[bytes]) -> None:
    if not directories:
        raise _invalid("No directories specified in request")
    if any(is_reserved_directory(directory) for directory in directories):
        raise _invalid("Reserved directory ID in request")
    if len(set(directories)) != len(directories):
        raise _invalid("Duplicate directory ID in request")
    for other in state.image.brokers.values():
        if other.id != broker_id and set(other.directories) & set(directories):
            raise _invalid(f"Broker {other.id} is already registered with one of the directories")


def _checked_features(state: ControllerState, features: Any) -> list[BrokerFeature]:
    """Return the features the broker supports, which must cover what the cluster has finalised."""
    supported = {
        feature.name: VersionRange(feature.min_supported_version, feature.max_supported_version)
        for feature in features
    }
    if METADATA_VERSION not in supported:
        raise _invalid(f"Request features do not contain '{METADATA_VERSION}'")
    finalized = {
        **state.image.features,
        METADATA_VERSION: state.metadata_version,
        KRAFT_VERSION: state.kraft_version,
    }
    for name in supported.keys() | finalized.keys():
        level = finalized.get(name, 0)
        range_ = supported.get(name, VersionRange(0, 0))
        if level not in range_:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"Unable to register because the broker does not support finalized version {level} "
                f"of {name}. The broker wants a version between {range_.min} and {range_.max}, "
                "inclusive.",
            )
    return [
        BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
        for name, (low, high) in supported.items()
    ]


def heartbeat(state: ControllerState, request: Any, now_ms: int) -> Decision[MetadataRecord]:
    """Decide a BrokerHeartbeatRequest. Raises KafkaError for another broker epoch."""
    broker_id = request.broker_id
    broker = check_broker_epoch(state, broker_id, request.broker_epoch)
    registered_at = state.registration_offsets.get(broker_id, -1)
    caught_up = request.current_metadata_offset >= registered_at
    fenced, done = broker.fenced, False
    leaving = not fenced and state.sessions.controlled_shutdown_offset(broker_id) >= 0
    records: list[MetadataRecord] = []
    if fenced:
        if request.want_shut_down:
            done = True
        elif not request.want_fence and caught_up:
            fenced = False
            records = _unfence(state, broker, frozenset(request.offline_log_dirs))
    elif leaving:
        done = _may_go(state, broker)
    elif request.want_fence:
        done = request.want_shut_down
        fenced = True
        records = fence(state, broker)
    elif request.want_shut_down:
        if state.index.leads_anything(broker_id):
            leaving = True
            records = _begin_controlled_shutdown(state, broker)
        else:
            done = True
    if done and not fenced:
        fenced = True
        records = fence(state, broker)
    if fenced:
        state.sessions.forget(broker_id)  # its controlled shutdown has ended
    state.sessions.touch(broker_id, broker.epoch, now_ms, request.current_metadata_offset)
    if leaving and not fenced:
        last_offset = state.next_offset + len(records) - 1
        state.sessions.begin_controlled_shutdown(broker_id, last_offset)
    records += _directory_changes(state, broker, request)
    reply = BrokerHeartbeatResponse(is_caught_up=caught_up, is_fenced=fenced, should_shut_down=done)
    return Decision(records=records, reply=reply, atomic=False)


def _change(broker: BrokerRegistration, version: int, **fields: Any) -> MetadataRecord:
    return MetadataRecord(
        BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, **fields),
        version,
    )


def fence(state: ControllerState, broker: BrokerRegistration) -> list[MetadataRecord]:
    """Return the records that take a broker out of service: its partitions first."""
    return [*broker_goes(state, broker.id), _change(broker, 0, fenced=_FENCE)]


def _unfence(
    state: ControllerState, broker: BrokerRegistration, offline: frozenset[bytes]
) -> list[MetadataRecord]:
    return [_change(broker, 0, fenced=_UNFENCE), *broker_comes(state, broker.id, offline)]


def _begin_controlled_shutdown(
    state: ControllerState, broker: BrokerRegistration
) -> list[MetadataRecord]:
    """Return the records that move a broker's leaderships to others.

    If the former controller began the shutdown, it may have moved only some of them.
    """
    begun = [] if broker.in_controlled_shutdown else [_change(broker, 1, in_controlled_shutdown=1)]
    return [*begun, *broker_goes(state, broker.id)]


def _may_go(state: ControllerState, broker: BrokerRegistration) -> bool:
    """Return whether a broker may stop: it leads nothing, and every active broker has seen that."""
    if state.index.leads_anything(broker.id):
        return False
    active = [
        other.id
        for other in state.image.brokers.values()
        if not other.fenced and not other.in_controlled_shutdown
    ]
    wanted = state.sessions.controlled_shutdown_offset(broker.id)
    return wanted <= state.sessions.lowest_offset(active)


def _directory_changes(
    state: ControllerState, broker: BrokerRegistration, request: Any
) -> list[MetadataRecord]:
    """Return the changes for reported log directories: some failed, some are cordoned."""
    records: list[MetadataRecord] = []
    level = state.metadata_version
    if request.offline_log_dirs and supports_directory_assignment(level):
        lost = set(broker.directories) & set(request.offline_log_dirs)
        if lost:
            online = [directory for directory in broker.directories if directory not in lost]
            records += directory_goes(state, broker.id, lost)
            records.append(_change(broker, 2, log_dirs=online))
    cordoned = request.cordoned_log_dirs
    if cordoned is not None and supports_cordoned_directories(level):
        known = broker.cordoned_directories
        if known is None or set(known) != set(cordoned):
            records.append(_change(broker, 3, cordoned_log_dirs=list(cordoned)))
    return records


def matters_to_many(state: ControllerState, broker_id: int) -> bool:
    """Return whether very many partitions may change if this broker leaves."""
    return _are_many(chain(state.index.in_sync(broker_id), state.index.eligible(broker_id)))


def heartbeat_takes_long(state: ControllerState, request: Any) -> bool:
    """Return whether this heartbeat may change very many partitions."""
    broker = state.broker(request.broker_id)
    if broker is None:
        return False
    if broker.fenced:
        return _are_many(state.index.leaderless())
    if request.want_fence or request.want_shut_down or request.offline_log_dirs:
        return _are_many(state.index.in_sync(request.broker_id))
    return False


def _are_many(places: Iterator[Place]) -> bool:
    return next(islice(places, MANY_PARTITIONS - 1, None), None) is not None


def fence_stale_broker(state: ControllerState, now_ms: int) -> Decision[MetadataRecord]:
    """Fence one broker whose session has expired; the reply says whether a session had expired."""
    broker_id = state.sessions.expired(now_ms)
    if broker_id is None:
        return Decision(reply=False)
    broker = state.broker(broker_id)
    state.sessions.forget(broker_id)
    if broker is None or broker.fenced:
        return Decision(reply=True)
    return Decision(records=fence(state, broker), reply=True, atomic=False)


def unregister_broker(state: ControllerState, broker_id: int) -> Decision[MetadataRecord]:
    """Decide an UnregisterBrokerRequest: remove the broker; its replicas stay assigned. Raises
    KafkaError if it is not registered.
    """
    from pykbroker.protocol.messages.unregister_broker_response import UnregisterBrokerResponse

    broker = state.broker(broker_id)
    if broker is None:
        raise KafkaError(
            ErrorCode.BROKER_ID_NOT_REGISTERED,
            f"Broker ID {broker_id} is not currently registered",
        )
    record = UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=broker.epoch)
    state.sessions.forget(broker_id)
    records = [*broker_leaves(state, broker_id), MetadataRecord(record)]
    reply = UnregisterBrokerResponse(error_message=None)
    return Decision(records=records, reply=reply, atomic=False)


def register_controller(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide a ControllerRegistrationRequest (KIP-919). Raises KafkaError before metadata.version
    3.7-IV0.
    """
    if not supports_controller_registration(state.metadata_version):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            "The current MetadataVersion is too old to support controller registrations.",
        )
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=False,
        end_points=[
            ControllerEndpoint(
                name=at.name, host=at.host, port=at.port, security_protocol=at.security_protocol
            )
            for at in request.listeners
        ],
        features=[
            ControllerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ],
    )
    reply = ControllerRegistrationResponse(error_message=None)
    return Decision(records=[MetadataRecord(record)], reply=reply)


def unregister_controller(state: ControllerState, controller_id: int) -> Decision[MetadataRecord]:
    """Decide an UnregisterControllerRequest (KIP-1312): remove one that is no longer a voter.
    Raises KafkaError if it is one or not registered, or before metadata.version 4.4-IV2.
    """
    from pykbroker.protocol.messages.unregister_controller_response import (
        UnregisterControllerResponse,
    )

    if controller_id in state.voter_ids():
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot unregister controller {controller_id} because it is part of the voter set.",
        )
    if not supports_controller_unregistration(state.metadata_version):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            "The current MetadataVersion is too old to support controller unregistration.",
        )
    if controller_id not in state.image.controllers:
        raise KafkaError(
            ErrorCode.CONTROLLER_ID_NOT_REGISTERED,
            f"Controller ID {controller_id} is not currently registered.",
        )
    record = UnregisterControllerRecord(controller_id=controller_id)
    reply = UnregisterControllerResponse(error_message=None)
    return Decision(records=[MetadataRecord(record)], reply=reply)
