"""The Helm chart: templates are the documents of the manifest, with values in the place of what can be chosen.

`python -m tests.kubernetes.chart` writes the templates.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
_QUOTED = re.compile(r"'(\{\{ \.(?:Values\.\w+)? \| \w+ \}\})'")
"""A value that is no part of a text: Helm writes its quotes."""
_LINE = re.compile(r"^ *- ('?)(\{\{- .*\}\})\1$", re.MULTILINE)
"""An entry of a list that is only for Helm."""


def templates() -> dict[str, str]:
    """Texts of the templates by their file names; the namespace is Helm's."""
    image, replicas, plan, storage = map(_value, ("image", "replicas", "plan", "storage"))
    settings = ManifestSettings(NAMESPACE, image, replicas, plan=plan, storage=storage)
    settings = replace(settings, oidc_secret=_value("oidcSecret"), smtp_secret=_value("smtpSecret"))
    looking = ManifestSettings(NAMESPACE, observes=True)
    service = text_of([claim(settings), _deployment(settings), api(settings)])
    service = service.replace(digest(plan), "{{ .Values.plan | sha256sum | toJson }}")
    named = f"{_if('storageClass')}  storageClassName: {_value('storageClass')}\n{_END}"
    service = service.replace("---\napiVersion: apps/v1\n", f"{named}---\napiVersion: apps/v1\n")
    texts = {
        "account": text_of([service_account(settings)]),
        "rights": f"{_if('observeOnly')}{text_of(rights(looking))}{{{{- else }}}}\n{text_of(rights(settings))}{_END}",
        "viewer": f"{_if('viewer')}{text_of(viewers(settings))}{_END}",
        "policies": f"{_if('not observeOnly')}{text_of(policies(settings))}{_END}",
        "plan": f"{_if('plan')}{_if('not planObject')}{text_of([plan_map(settings)])}{_END}{_END}",
        "service": service,
    }
    return {f"{name}.yaml": _LINE.sub(r"\2", _QUOTED.sub(r"\1", text)) for name, text in texts.items()}


_END = "{{- end }}\n"


def _value(name: str) -> str:
    return f"{{{{ .Values.{name} | toJson }}}}"


def _if(condition: str) -> str:
    *words, name = condition.split()
    return f"{{{{- if {' '.join((*words, f'.Values.{name}'))} }}}}\n"


def _only(condition: str, *rows: Any) -> list[Any]:
    """Entries of a list that are there where a value says so."""
    return [_if(condition).strip(), *rows, _END.strip()]


def _deployment(settings: ManifestSettings) -> Document:
    """With everything that can be chosen."""
    found = deployment(settings)
    spec = found["spec"]["template"]["spec"]
    container = spec["containers"][0]
    serve, plan, govern, *viewer = container["args"][:5]
    secrets = container["args"][5:]
    named = _only("planObject", "--plan-object", _value("planObject"))[:-1]
    container["args"] = [
        *(serve, *named, "{{- else }}", plan, _END.strip(), govern),
        *_only("observeOnly", "--observe-only"),
        *_only("viewer", *viewer),
        *_only("oidcSecret", *secrets[:2]),
        *_only("smtpSecret", *secrets[2:]),
        *("{{- range .Values.options }}", "{{ . | toJson }}", _END.strip()),
    ]
    container["resources"] = _value("resources")
    conditions = {"plan": "not planObject", "viewer": "viewer"}
    conditions |= {"oidc-secret": "oidcSecret", "smtp-secret": "smtpSecret"}
    for rows in (container["volumeMounts"], spec["volumes"]):
        for place, row in reversed(list(enumerate(rows))):
            condition = conditions.get(row["name"])
            rows[place : place + 1] = _only(condition, row) if condition else [row]
    for key in ("nodeSelector", "tolerations", "imagePullSecrets"):
        spec[key] = _value(key)
    return found


def kinds() -> str:
    """Text of the definitions of Fairhold's own kinds, which Helm installs first and never takes away."""
    return text_of(custom_resources())


if __name__ == "__main__":
    (CHART / "crds").mkdir(exist_ok=True)
    (CHART / "crds" / "fairhold.yaml").write_text(kinds())
    for name, text in templates().items():
        (CHART / "templates" / name).write_text(text)
