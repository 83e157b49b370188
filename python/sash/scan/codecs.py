"""Compressed event logs, as Spark writes them.

Spark compresses a log by a stream of its own for each codec: zstd is the plain format, and the
others put blocks into frames of the Java libraries, which other tools do not know. A log of a
running application ends in the middle of a block; all that comes before is read.
"""

from __future__ import annotations

import gzip
import importlib
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any

_CHUNK = 1 << 20
_LZ4_HEADER = 21
_SNAPPY_MAGIC = b"\x82SNAPPY\x00"


class Unreadable(OSError):  # noqa: N818
    """A log that cannot be read; the message names the remedy."""


class CutOff(Exception):  # noqa: N818
    """The end of a log that is still written, or that has lost its end."""


def chunks(file: IO[bytes], codec: str | None) -> Iterator[bytes]:
    """The bytes of a log, uncompressed.

    Args:
        file: The log.
        codec: ``zstd``, ``lz4``, ``snappy``, ``lzf``, ``gz``, or none.

    Raises:
        CutOff: if the log ends in the middle of a block.
        Unreadable: if a library is missing.
    """
    if codec is None:
        while chunk := file.read(_CHUNK):
            yield chunk
        return
    yield from _CODECS[codec](file)


def _arrow() -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ModuleNotFoundError:
        raise Unreadable(
            "reading a log compressed by zstd, lz4 or snappy needs pyarrow: "
            "pip install 'sash-spark[scan]', or uncompress the log"
        ) from None


def _zstd(file: IO[bytes]) -> Iterator[bytes]:
    arrow = _arrow()
    stream = arrow.CompressedInputStream(arrow.PythonFile(file, mode="r"), "zstd")
    try:
        # small reads: what lies before a cut-off block of zstd is not lost
        while chunk := stream.read(1 << 14):
            yield chunk
    except OSError as error:
        raise CutOff from error


def _gzip(file: IO[bytes]) -> Iterator[bytes]:
    stream = gzip.GzipFile(fileobj=file)
    try:
        while chunk := stream.read(_CHUNK):
            yield chunk
    except (EOFError, OSError, zlib.error) as error:
        raise CutOff from error


def _lz4(file: IO[bytes]) -> Iterator[bytes]:
    """Blocks of LZ4BlockOutputStream of lz4-java, which is not the frame format of LZ4."""
    codec = _arrow().Codec("lz4_raw")
    while head := file.read(_LZ4_HEADER):
        if len(head) < _LZ4_HEADER or not head.startswith(b"LZ4Block"):
            raise CutOff
        packed, size = _little(head[9:13]), _little(head[13:17])
        block = _exactly(file, packed)
        is_raw = head[8] & 0xF0 == 0x10
        yield block if is_raw or not size else _unpacked(codec, block, size)


def _snappy(file: IO[bytes]) -> Iterator[bytes]:
    """Blocks of SnappyOutputStream of snappy-java: a header, then lengths and raw blocks."""
    codec = _arrow().Codec("snappy")
    while head := file.read(4):
        if head == _SNAPPY_MAGIC[:4]:
            _exactly(file, 12)
            continue
        block = _exactly(file, int.from_bytes(head, "big"))
        yield _unpacked(codec, block, _varint(block))


def _lzf(file: IO[bytes]) -> Iterator[bytes]:
    """Chunks of LZFOutputStream of compress-lzf."""
    while head := file.read(5):
        if len(head) < 5 or not head.startswith(b"ZV"):
            raise CutOff
        length = int.from_bytes(head[3:5], "big")
        if head[2] == 0:
            yield _exactly(file, length)
        else:
            size = int.from_bytes(_exactly(file, 2), "big")
            yield _lzf_block(_exactly(file, length), size)


def _lzf_block(block: bytes, size: int) -> bytes:
    out, at = bytearray(), 0
    try:
        while at < len(block):
            control = block[at]
            at += 1
            if control < 32:
                out += block[at : at + control + 1]
                at += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += block[at]
                at += 1
            start = len(out) - ((control & 31) << 8) - block[at] - 1
            at += 1
            for i in range(start, start + length + 2):
                out.append(out[i])
    except IndexError:
        raise CutOff from None
    if len(out) != size:
        raise CutOff
    return bytes(out)


def _unpacked(codec: Any, block: bytes, size: int) -> bytes:
    try:
        return bytes(codec.decompress(block, decompressed_size=size, asbytes=True))
    except (OSError, ValueError) as error:
        raise CutOff from error


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise CutOff
    return data


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _varint(block: bytes) -> int:
    value = 0
    for shift, byte in enumerate(block[:5]):
        value |= (byte & 127) << (7 * shift)
        if byte < 128:
            return value
    raise CutOff


_CODECS: dict[str, Callable[[IO[bytes]], Iterator[bytes]]] = {
    "zstd": _zstd,
    "lz4": _lz4,
    "snappy": _snappy,
    "lzf": _lzf,
    "gz": _gzip,
}
NAMES = frozenset(_CODECS)
