"""Apache Kafka 4.4 itself: its command-line tools, and a broker to compare with.

`run_tool` runs one of Apache's classes and returns what it printed; `ApacheBroker` is a combined
node with the same face as `pykbroker.testing.Broker` (bootstrap_servers, data_dir, kill, restart),
so that a test can be pointed at either.
"""

from __future__ import annotations

import atexit
import base64
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from functools import cache
from pathlib import Path
from types import TracebackType

from tests.harness.class_archive import archive_options
from tests.harness.ports import KeptPorts
from tests.harness.tools import java, kafka_classpath

# Features whose records pykbroker does not know yet; see docs/limits.md.
UNBUILT_FEATURES = (
    "group.version=0",
    "share.version=0",
    "streams.version=0",
)

QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For tools, and nodes that do not run for long: a small process that is soon there."""

SHIPPED_JVM = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)
"""For benchmarks: what kafka-run-class.sh gives its broker."""

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "org.apache.kafka.tools.ConfigCommand"
CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
GET_OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"
LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
DUMP_LOG = "org.apache.kafka.tools.DumpLogSegments"
STORAGE = "kafka.tools.StorageTool"
QUORUM = "org.apache.kafka.tools.MetadataQuorumCommand"
CLUSTER = "org.apache.kafka.tools.ClusterTool"
FEATURES = "org.apache.kafka.tools.FeatureCommand"
LEADER_ELECTION = "org.apache.kafka.tools.LeaderElectionCommand"
REPLICA_VERIFICATION = "org.apache.kafka.tools.ReplicaVerificationTool"
METADATA_SHELL = "org.apache.kafka.shell.MetadataShell"
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
PRODUCER_PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance"
CONSUMER_PERFORMANCE = "org.apache.kafka.tools.ConsumerPerformance"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
END_TO_END_LATENCY = "org.apache.kafka.tools.EndToEndLatency"
VERIFIABLE_PRODUCER = "org.apache.kafka.tools.VerifiableProducer"
VERIFIABLE_CONSUMER = "org.apache.kafka.tools.VerifiableConsumer"
BROKER_API_VERSIONS = "org.apache.kafka.tools.BrokerApiVersionsCommand"

_LOG4J2 = """status = error
rootLogger.level = warn
rootLogger.appenderRef.err.ref = err
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = [%d] %p %m (%c)%n
"""


def java_command(
    class_name: str,
    *arguments: str,
    heap: str = "256m",
    options: tuple[str, ...] = QUICK_JVM,
    classpath: str | None = None,
) -> list[str]:
    """The command line that runs one of Apache's classes, quietly; by default one that is soon
    there."""
    path = classpath or kafka_classpath()
    if options == QUICK_JVM and path.startswith(kafka_classpath()):
        options = (*options, *archive_options(_archive_classes))
    return [
        java(),
        f"-Xmx{heap}",
        *options,
        f"-Dlog4j2.configurationFile={_logging_settings()}",
        "-cp",
        path,
        class_name,
        *arguments,
    ]


def _archive_classes(path: Path) -> None:
    """Have a node write the classes that it has loaded."""
    with ApacheBroker(jvm=(*QUICK_JVM, f"-XX:ArchiveClassesAtExit={path}")) as node:
        node.stop()


@cache
def _logging_settings() -> Path:
    """In a directory of our own: in the shared one somebody else may have written it."""
    directory = tempfile.mkdtemp(prefix="pykbroker-tests-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    path = Path(directory) / "log4j2.properties"
    path.write_text(_LOG4J2)
    return path


def random_uuid() -> str:
    """In Kafka's base64; not one that a command line takes for a flag."""
    return base64.urlsafe_b64encode(b"\x01" + uuid.uuid4().bytes[1:]).decode().rstrip("=")


def run_tool(
    class_name: str,
    *arguments: str,
    stdin: str | None = None,
    timeout_s: float = 300,
    check: bool = True,
    options: tuple[str, ...] = QUICK_JVM,
) -> str:
    """Run a tool to its end; standard output. AssertionError with its output when it fails."""
    done = subprocess.run(
        java_command(class_name, *arguments, options=options),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )
    if check and done.returncode:
        raise AssertionError(
            f"{class_name} {arguments}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    return done.stdout if check else done.stdout + done.stderr


class ApacheBroker:
    """One combined Apache Kafka node on free ports of 127.0.0.1; a context manager."""

    def __init__(
        self,
        data_dir: Path | None = None,
        *,
        config: dict[str, str] | None = None,
        features: tuple[str, ...] = UNBUILT_FEATURES,
        heap: str = "1g",
        jvm: tuple[str, ...] = QUICK_JVM,
    ) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="apache-kafka-")
        self._home = Path(self._temporary.name)
        self.data_dir = data_dir or self._home / "log-dir"
        self._ports = KeptPorts(2)
        self.port, self.controller_port = self._ports.numbers
        self._features = features
        self._heap = heap
        self._jvm = jvm
        self._process: subprocess.Popen[bytes] | None = None
        self._properties = self._home / "server.properties"
        settings = self._base_settings() | (config or {})
        self._properties.write_text("".join(f"{k}={v}\n" for k, v in settings.items()))

    @property
    def bootstrap_servers(self) -> str:
        """`127.0.0.1:PORT`."""
        return f"127.0.0.1:{self.port}"

    @property
    def properties(self) -> Path:
        """Its server.properties, for tools."""
        return self._properties

    @property
    def pid(self) -> int:
        """The process id of the running node."""
        assert self._process is not None
        return self._process.pid

    def _base_settings(self) -> dict[str, str]:
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{self.controller_port}",
            "listeners": (
                f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self.controller_port}"
            ),
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(self.data_dir),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
        }

    def format(self) -> None:
        """Format the data directory as `kafka-storage.sh format --standalone` does."""
        features = [argument for f in self._features for argument in ("--feature", f)]
        arguments = ["format", "-t", random_uuid(), "-c", str(self._properties), "--standalone"]
        run_tool(STORAGE, *arguments, *features, options=self._jvm)

    def start(self) -> None:
        """Format an empty directory, start, and wait until the listener answers."""
        if not (self.data_dir / "meta.properties").exists():
            self.format()
        log = (self._home / "server.log").open("ab")
        command = java_command(
            "kafka.Kafka", str(self._properties), heap=self._heap, options=self._jvm
        )
        self._process = subprocess.Popen(command, stdout=log, stderr=log)
        log.close()
        self._await_listener()

    def _await_listener(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError("Apache Kafka did not start:\n" + self.server_log()[-5000:])

    def server_log(self) -> str:
        """What the node has logged so far."""
        return (self._home / "server.log").read_text(errors="replace")

    def stop(self) -> None:
        """SIGTERM and wait for a clean end."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Start again on the same directory and ports."""
        if self._process is not None:
            self.stop()
        self.start()

    def close(self) -> None:
        """SIGKILL, and remove the files that the harness made (not a data_dir that was given)."""
        self.kill()
        self._ports.close()
        self._temporary.cleanup()

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait(300)

    def __enter__(self) -> ApacheBroker:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
