"""Memory that two processes share, for large arrays: an anonymous file, freed when no process has it open."""

from __future__ import annotations

import mmap
import os

#: `LIMIT`: the size of the memory in bytes. `KEPT`: the bytes that stay allocated after `clear`, because writing to
#: pages that are allocated already is faster.
LIMIT, KEPT = 1 << 28, 1 << 26
#: Alignment of each array in bytes, the same as in NumPy's and the frameworks' own allocations.
_ALIGNED = 64


class SharedMemory:
    """A buffer that one process writes arrays to and another process reads them from, until `clear` empties it.

    Args:
        file: descriptor of a file of `LIMIT` bytes.

    Raises:
        OSError: if `file` cannot be mapped into memory.
    """

    def __init__(self, file: int) -> None:
        self.file = file
        self._map = mmap.mmap(file, LIMIT)
        self._bytes = memoryview(self._map)
        # Offsets in bytes: the end of the last array, and the end of the part of the file that is allocated.
        self._end = self._there = 0

    @classmethod
    def made(cls) -> SharedMemory | None:
        """Return a new shared memory, or None if the system has none, or a limit or a sandbox forbids it."""
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
        """Write `data` and return its offset, or -1 if there is no room for it."""
        begin = -(-self._end // _ALIGNED) * _ALIGNED
        end = begin + len(data)
        if end > LIMIT:
            return -1
        if end > self._there:
            try:
                # If memory cannot be allocated, this raises; without it, writing would kill the process (SIGBUS).
                os.posix_fallocate(self.file, self._there, end - self._there)
            except OSError:
                return -1
            self._there = end
        self._bytes[begin:end] = data
        self._end = end
        return begin

    def taken(self, begin: int, size: int) -> memoryview:
        """Return a view of the `size` bytes at `begin`; it is valid until they are overwritten."""
        return self._bytes[begin : begin + size]

    def clear(self) -> None:
        """Start to write from the beginning again. The other process must have read all arrays."""
        self._end = 0
        if self._there > KEPT:
            os.ftruncate(self.file, KEPT)
            os.ftruncate(self.file, LIMIT)
            self._there = KEPT

    def close(self) -> None:
        """Unmap the memory and close the file. No view of it may be used afterwards."""
        self._bytes.release()
        self._map.close()
        os.close(self.file)
