"""Run when a package is built: gives it the README with links that lead somewhere."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Readme(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        spec = importlib.util.spec_from_file_location("readme", root / "tools" / "readme.py")
        assert spec is not None
        assert spec.loader is not None
        readme = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(readme)
        text = (root / "README.md").read_text(encoding="utf-8")
        address = metadata.get("urls", {}).get("Documentation")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": readme.published(text, address),
        }
