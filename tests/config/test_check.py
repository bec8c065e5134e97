from __future__ import annotations

from pykbroker.config.check import HIDDEN, Effect, Finding, Report, check_properties
from pykbroker.config.load import parse_properties, standalone_properties


def check(text: str) -> Report:
    return check_properties(parse_properties(text, "f"))


def test_what_each_key_does() -> None:
    report = check(
        "num.partitions=3\n"
        "log.retention.hours=168\n"
        "num.io.threads=8\n"
        "remote.log.reader.threads=3\n"
        "ssl.keystore.password=secret\n"
        "listener.name.plaintext.max.connections=9\n"
    )
    effects = {each.key: each.effect for each in report.findings}
    assert effects == {
        "num.partitions": Effect.HONOURED,
        "log.retention.hours": Effect.DEFAULT,
        "num.io.threads": Effect.NO_EFFECT,
        "remote.log.reader.threads": Effect.NO_EFFECT,
        "ssl.keystore.password": Effect.NO_EFFECT,
        "listener.name.plaintext.max.connections": Effect.HONOURED,
    }
    assert report.errors == ()
    shown = {each.key: each for each in report.findings}
    assert shown["num.partitions"] == Finding(
        "num.partitions", "3", Effect.HONOURED, "", "f, line 1"
    )
    assert shown["ssl.keystore.password"].value == HIDDEN
    assert "event loop" in shown["num.io.threads"].why
    assert report.filled_in == standalone_properties("./pykbroker-data")


def test_every_refused_key_is_an_error() -> None:
    report = check(
        "num.partition=3\nnum.partitions=x\nbroker.id=1\nlistener.name.a.ssl.key.password=x\n"
        "listener.name.a.plain.sasl.jaas.config=secret"
    )
    refused = {each.key: each for each in report.findings if each.effect is Effect.REFUSED}
    password, jaas = "listener.name.a.ssl.key.password", "listener.name.a.plain.sasl.jaas.config"
    assert set(refused) == {"num.partition", "num.partitions", password, jaas}
    assert refused[password].value == refused[jaas].value == HIDDEN
    assert report.errors == tuple(f"{each.origin}: {each.why}" for each in refused.values())


def test_keys_that_do_not_fit_together() -> None:
    report = check("log.cleaner.min.compaction.lag.ms=9\nlog.cleaner.max.compaction.lag.ms=8")
    assert [each.effect for each in report.findings] == [Effect.HONOURED] * 2
    (error,) = report.errors
    assert error.startswith("f, line 1: conflict topic config setting")


def test_a_file_of_a_quorum_is_not_filled_in() -> None:
    report = check("process.roles=broker")
    assert report.filled_in == {}
    (error,) = report.errors
    assert "controller.listener.names, node.id" in error
