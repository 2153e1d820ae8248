"""The Helm chart: templates are the documents of the manifest, with values in the place of what can be chosen.

`python -m tests.kubernetes.chart` writes the templates.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.custom_resources import custom_resources
from fairhold.engines.kubernetes.manifest import text_of
from fairhold.engines.kubernetes.manifest_policies import policies
from fairhold.engines.kubernetes.manifest_rights import rights, service_account, viewers
from fairhold.engines.kubernetes.manifest_service import api, claim, deployment, digest, plan_map
from fairhold.engines.kubernetes.manifest_settings import ManifestSettings

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.manifest_settings import Document

CHART = Path(__file__).parents[2] / "packaging/helm/fairhold"
NAMESPACE = "{{ .Release.Namespace }}"
_QUOTED = re.compile(r"'(\{\{ \.Values\.\w+ \| \w+ \}\})'")
"""A value that is no part of a text: Helm writes its quotes."""


def templates() -> dict[str, str]:
    """Texts of the templates by their file names; the namespace is Helm's."""
    image, replicas, plan, storage = (
        f"{{{{ .Values.{name} | toJson }}}}" for name in ("image", "replicas", "plan", "storage")
    )
    settings = ManifestSettings(NAMESPACE, image, replicas, plan=plan, storage=storage)
    files: dict[str, list[Document]] = {
        "rights": [service_account(settings), *rights(settings), *viewers(settings)],
        "policies": policies(settings),
        "plan": [plan_map(settings)],
        "service": [claim(settings), deployment(settings), api(settings)],
    }
    texts = {f"{name}.yaml": _QUOTED.sub(r"\1", text_of(objects)) for name, objects in files.items()}
    texts["plan.yaml"] = f"{{{{- if .Values.plan }}}}\n{texts['plan.yaml']}{{{{- end }}}}\n"
    texts["service.yaml"] = texts["service.yaml"].replace(digest(plan), "{{ .Values.plan | sha256sum | toJson }}")
    return texts


def kinds() -> str:
    """Text of the definitions of Fairhold's own kinds, which Helm installs first and never takes away."""
    return text_of(custom_resources())


if __name__ == "__main__":
    (CHART / "crds").mkdir(exist_ok=True)
    (CHART / "crds" / "fairhold.yaml").write_text(kinds())
    for name, text in templates().items():
        (CHART / "templates" / name).write_text(text)
