"""What callers were promised, one line of JSON each, on disk before it counts."""

import json
import os
import threading
import time
from pathlib import Path


class Journal:
    """Appends events; those that are promises are flushed before `write` returns."""

    PROMISES = {"acknowledged", "told"}

    def __init__(self, path: Path):
        self._file = open(path, "ab", buffering=0)
        self._lock = threading.Lock()

    def write(self, event: str, key: str, **members: object) -> None:
        """`at` is when the caller knew it, before the flush: an answer is not made younger by a slow disk."""
        line = {"at": int(time.time() * 1000), "event": event, "key": key, **members}
        data = (json.dumps(line) + "\n").encode()
        with self._lock:
            self._file.write(data)
            if event in self.PROMISES:
                os.fdatasync(self._file.fileno())

    def close(self) -> None:
        with self._lock:
            os.fsync(self._file.fileno())
            self._file.close()
