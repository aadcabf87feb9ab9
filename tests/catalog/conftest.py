from collections.abc import Callable, Mapping
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Path]:
    """Write files below a fresh directory, which then is a workspace."""
    root = tmp_path / "ws"

    def make(files: Mapping[str, str | bytes]) -> Path:
        for name, content in {"packbelt.yaml": "", **files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return make
