"""The link of an explanation in files. It is written only if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eagle.files.sealed import mapping, number
from eagle.link import Logit


def to_dict(link: Logit | None) -> dict[str, Any]:
    return {} if link is None else {"link": {"kind": "logit", "clip": link.clip}}


def read(data: Mapping[str, Any]) -> Logit | None:
    if "link" not in data:
        return None
    link = mapping(data["link"])
    if link["kind"] != "logit":
        raise ValueError("its scale is not known")
    return Logit(number(link["clip"]))
