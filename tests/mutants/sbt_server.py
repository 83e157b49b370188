"""One sbt that stays, asked through the socket of its server."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any


class Sbt:
    """Runs commands in the build below `root`, in one JVM; one that hangs costs a new one."""

    def __init__(self, command: str, root: Path, log: Path) -> None:
        self._command = [*shlex.split(command), "-Dsbt.supershell=false", "-Dsbt.color=false"]
        self._root = root
        self._log = log.open("w", encoding="utf-8")
        self._ids = 0
        self._start()

    def run(self, command: str, seconds: float) -> bool | None:
        """Whether a command succeeds; None where it has not ended in time."""
        deadline = time.monotonic() + seconds
        try:
            answer = self._request("sbt/exec", {"commandLine": command}, deadline)
        except TimeoutError:
            self.stop()
            self._start()
            return None
        return "error" not in answer

    def stop(self) -> None:
        """End the process."""
        self._socket.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _start(self) -> None:
        active = self._root / "project/target/active.json"
        active.unlink(missing_ok=True)
        self._process = subprocess.Popen(
            self._command,
            cwd=self._root,
            stdin=subprocess.PIPE,  # kept open: at its end sbt's shell would leave
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        while not active.exists():
            if self._process.poll() is not None:
                raise SystemExit(f"error: sbt did not start, see {self._log.name}")
            time.sleep(0.2)
        self._socket = socket.socket(socket.AF_UNIX)
        uri: str = json.loads(active.read_text(encoding="utf-8"))["uri"]
        self._socket.connect(uri.removeprefix("local://"))
        self._pending = b""
        options = {"initializationOptions": {"skipAnalysis": True}}
        self._request("initialize", options, time.monotonic() + 300)

    def _request(self, method: str, params: dict[str, Any], deadline: float) -> dict[str, Any]:
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": str(self._ids), "method": method, "params": params}
        body = json.dumps(message).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == str(self._ids):
                return answer
            if answer.get("method") == "build/logMessage":
                self._log.write(answer["params"]["message"] + "\n")

    def _receive(self, deadline: float) -> dict[str, Any]:
        head = self._take(self._until(b"\r\n\r\n", deadline) + 4, deadline).decode().lower()
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        received: dict[str, Any] = json.loads(self._take(length, deadline))
        return received

    def _until(self, mark: bytes, deadline: float) -> int:
        while mark not in self._pending:
            self._read(deadline)
        return self._pending.index(mark)

    def _take(self, length: int, deadline: float) -> bytes:
        while len(self._pending) < length:
            self._read(deadline)
        taken, self._pending = self._pending[:length], self._pending[length:]
        return taken

    def _read(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        received = self._socket.recv(1 << 16)
        if not received:
            raise SystemExit(f"error: sbt has gone, see {self._log.name}")
        self._pending += received
