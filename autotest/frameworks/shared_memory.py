"""Memory that two processes share, for large arrays: a file without a name, which is gone when nobody holds it."""

from __future__ import annotations

import mmap
import os

#: Bytes that may lie in it at once, and that it keeps for the next: what was written before is written soonest.
LIMIT, KEPT = 1 << 28, 1 << 26
#: What begins where NumPy and the frameworks would have put it themselves.
_ALIGNED = 64


class SharedMemory:
    """What one process writes and the other one reads, one after the other until all of it was taken.

    Raises `OSError` when there is no memory that `file` can be seen through.
    """

    def __init__(self, file: int) -> None:
        self.file = file
        self._map = mmap.mmap(file, LIMIT)
        self._bytes = memoryview(self._map)
        #: Where the next one begins, and how far there is memory behind the file.
        self._end = self._there = 0

    @classmethod
    def made(cls) -> SharedMemory | None:
        """A new one; None on a system without, and where a limit or a sandbox forbids it."""
        try:
            file = os.memfd_create("autotest")
        except (AttributeError, OSError):
            return None
        try:
            os.ftruncate(file, LIMIT)
            return cls(file)
        except OSError:
            os.close(file)
            return None

    def put(self, data: memoryview) -> int:
        """Where `data` lies now; -1 where there is no room for it."""
        begin = -(-self._end // _ALIGNED) * _ALIGNED
        end = begin + len(data)
        if end > LIMIT:
            return -1
        if end > self._there:
            try:
                os.posix_fallocate(self.file, self._there, end - self._there)  # else one is killed by writing to it
            except OSError:
                return -1
            self._there = end
        self._bytes[begin:end] = data
        self._end = end
        return begin

    def taken(self, begin: int, size: int) -> memoryview:
        """What lies there, until something else does."""
        return self._bytes[begin : begin + size]

    def clear(self) -> None:
        """Write from the beginning again, since all of it was taken."""
        self._end = 0
        if self._there > KEPT:
            os.ftruncate(self.file, KEPT)
            os.ftruncate(self.file, LIMIT)
            self._there = KEPT

    def close(self) -> None:
        """Let go of it; nothing may be looked at any more."""
        self._bytes.release()
        self._map.close()
        os.close(self.file)
