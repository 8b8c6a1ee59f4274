"""Formats the map of a sweep as one HTML file that works offline."""

from __future__ import annotations

import base64
import gzip
import importlib.resources
import json
from collections.abc import Mapping
from typing import Any, Final

_TEMPLATE: Final = "sweep_map.html"


def page(document: Mapping[str, Any]) -> str:
    """Return the page for a map given as `results.sweep_format.as_data` returns it. It makes no network requests.

    The page contains the data compressed; the browser decompresses them (`DecompressionStream`).
    """
    data = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    template = (importlib.resources.files(__package__ or "") / _TEMPLATE).read_text(encoding="utf-8")
    return template.replace("@DATA@", packed)
