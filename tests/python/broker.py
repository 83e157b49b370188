"""A Kafka broker for the length of a test, or of a command.

    python tests/python/broker.py COMMAND ...

runs the command with the broker's address in the environment, as ``KAFKA_BOOTSTRAP``.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fetch

PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:{controller}
listeners=PLAINTEXT://localhost:{port},CONTROLLER://localhost:{controller}
advertised.listeners=PLAINTEXT://localhost:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={folder}/data
num.partitions=2
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.hours=-1
"""


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """The address of a broker, which keeps what it keeps in ``folder``."""
    port, controller = _free_ports(2)
    config = folder / "server.properties"
    config.write_text(PROPERTIES.format(port=port, controller=controller, folder=folder))
    java = ["java", "-Xmx384m", "-cp", os.pathsep.join(map(str, fetch.broker()))]
    storage = ["kafka.tools.StorageTool", "format", "--cluster-id", uuid.uuid4().hex[:22]]
    log = folder / "broker.log"
    with log.open("wb") as out:
        for_both = {"stdout": out, "stderr": subprocess.STDOUT}
        subprocess.run([*java, *storage, "--config", str(config)], check=True, **for_both)
        process = subprocess.Popen([*java, "kafka.Kafka", str(config)], **for_both)
    try:
        _wait_for(port, process, log)
        yield f"localhost:{port}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("localhost", 0)) for _ in range(number)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("localhost", port), 1).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the broker does not answer: {log.read_text(errors='replace')[-2000:]}")


if __name__ == "__main__":
    work = Path(tempfile.mkdtemp())
    try:
        with broker(work) as address:
            command = subprocess.run(sys.argv[1:], env={**os.environ, "KAFKA_BOOTSTRAP": address})
        sys.exit(command.returncode)
    finally:
        shutil.rmtree(work, ignore_errors=True)
