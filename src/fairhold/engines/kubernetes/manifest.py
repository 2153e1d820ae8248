"""All that is applied to a cluster so that it can be governed, as documents; the same settings give the same text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from fairhold.engines.kubernetes import manifest_policies, manifest_rights, manifest_service
from fairhold.engines.kubernetes.custom_resources import custom_resources

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.engines.kubernetes.manifest_settings import Document, ManifestSettings


def documents(settings: ManifestSettings) -> list[Document]:
    """Every object, in an order in which each finds what it needs."""
    return [
        manifest_rights.namespace(settings),
        *custom_resources(),
        manifest_rights.service_account(settings),
        *manifest_rights.rights(settings),
        *(manifest_rights.viewers(settings) if settings.has_viewers else ()),
        *(() if settings.observes else manifest_policies.policies(settings)),
        *manifest_service.service(settings),
    ]


def text_of(objects: Iterable[Document]) -> str:
    """Objects as YAML documents."""
    return "".join(f"---\n{yaml.dump(each, Dumper=_Dumper, sort_keys=False, width=120)}" for each in objects)


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as such, and repeats what is used twice."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
