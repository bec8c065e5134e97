"""Overrides of broker keys reach the running node."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.metadata.dynamic_config import BROKER, DynamicConfig
from pykbroker.broker.server import BrokerServer
from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.protocol.messages import incremental_alter_configs_request as alter
from pykbroker.types import TopicPartition
from tests.broker.test_server import api_versions_of, call, make_config, run

INCREMENTAL_ALTER_CONFIGS = 44
SET = 0


async def set_key(server: BrokerServer, node: str, key: str, value: str) -> int:
    config = alter.AlterableConfig(name=key, config_operation=SET, value=value)
    resource = alter.AlterConfigsResource(
        resource_type=BROKER, resource_name=node, configs=[config]
    )
    request = alter.IncrementalAlterConfigsRequest(resources=[resource])
    port = server.listeners[0].port
    reply: Any = await call(port, INCREMENTAL_ALTER_CONFIGS, 1, request)
    code: int = reply.responses[0].error_code
    return code


def test_a_default_for_the_cluster_and_an_override_for_the_node(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        assert await set_key(server, "", "message.max.bytes", "2000") == 0
        assert server.config.message_max_bytes == 2000
        assert await set_key(server, "1", "message.max.bytes", "3000") == 0
        assert server.config.message_max_bytes == 3000
        assert await set_key(server, "", "message.max.bytes", "4000") == 0
        assert server.config.message_max_bytes == 3000

    run(make_config(tmp_path / "d"), scenario)


def test_limits_on_connections_follow(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        nobody = "127.0.0.1:0"
        assert await set_key(server, "", "max.connections.per.ip.overrides", nobody) == 0
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await api_versions_of(server)

    run(make_config(tmp_path / "d"), scenario)


def test_the_log_manager_and_the_cleaner_follow(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        assert await set_key(server, "", "log.cleaner.backoff.ms", "123") == 0
        assert await set_key(server, "", "log.segment.delete.delay.ms", "456") == 0
        manager = server.log_manager
        assert manager.config.log_cleaner_backoff_ms == 123
        assert manager.config.log_segment_delete_delay_ms == 456
        topic_config = TopicConfig.from_overrides(server.config, {})
        log = manager.create(TopicPartition("t", 0), bytes(15) + b"1", topic_config)
        assert await set_key(server, "", "producer.id.expiration.ms", "789") == 0
        assert log.producers.producer_id_expiration_ms == 789
        assert log.snapshots.fresh_copy().manager.producer_id_expiration_ms == 789

    run(make_config(tmp_path / "d"), scenario)


def test_they_are_there_after_a_restart(tmp_path: Path) -> None:
    async def change(server: BrokerServer) -> None:
        assert await set_key(server, "1", "message.max.bytes", "3000") == 0

    async def look(server: BrokerServer) -> None:
        assert server.config.message_max_bytes == 3000

    run(make_config(tmp_path / "d"), change)
    run(make_config(tmp_path / "d"), look)


def test_what_this_node_cannot_use_is_logged_and_costs_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = make_config(tmp_path)
    told: list[BrokerConfig] = []
    step = DynamicConfig(config)
    step.follow(told.append)
    step.follow(told.append)
    delta: Any = SimpleNamespace(changed_configs={(BROKER, "1")})
    image: Any = SimpleNamespace(
        cluster_config=lambda: {"log.retention.ms": "-1", "max.connection.creation.rate": "4"},
        broker_config=lambda node: {"message.max.bytes": "many"},
    )
    with caplog.at_level(logging.ERROR):
        step.apply(delta, image)
    assert told == [step.current] * 2
    assert step.current.log_retention_time_ms == -1
    assert step.current.message_max_bytes == config.message_max_bytes
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        (
            "cannot use the dynamic configuration: max.connection.creation.rate: "
            "the rate of new connections is not limited yet"
        ),
        (
            "cannot use the dynamic configuration: Invalid value many for configuration "
            "message.max.bytes: Not a number of type INT"
        ),
    ]


def test_other_resources_are_none_of_its_business(tmp_path: Path) -> None:
    config: BrokerConfig = make_config(tmp_path)
    step = DynamicConfig(config)
    delta: Any = SimpleNamespace(changed_configs={(BROKER, "2"), (2, "1")})
    step.apply(delta, None)  # type: ignore[arg-type]
    assert step.current is config


def test_logs_are_opened_with_what_clients_set(tmp_path: Path) -> None:
    async def alter_and_stop(server: BrokerServer) -> None:
        assert await set_key(server, "", "log.cleanup.policy", "compact") == 0
        assert await set_key(server, "", "num.recovery.threads.per.data.dir", "4") == 0

    async def nothing(server: BrokerServer) -> None:
        return None

    run(make_config(tmp_path / "d"), alter_and_stop)
    seen: list[tuple[int, bool]] = []

    class Watched(LogManager):
        async def open_logs(self, now_ms: int) -> None:
            assert self._topic_config is not None
            compact = self._topic_config("t").compact
            seen.append((self.config.num_recovery_threads_per_data_dir, compact))
            await super().open_logs(now_ms)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pykbroker.broker.server.LogManager", Watched)
        run(make_config(tmp_path / "d"), nothing)
    assert seen == [(4, True)]
