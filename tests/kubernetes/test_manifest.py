"""The documents of the manifest, without a cluster."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fairhold import __version__
from fairhold.engines.kubernetes.manifest import documents, text_of
from fairhold.engines.kubernetes.manifest_policies import policies
from fairhold.engines.kubernetes.manifest_settings import ManifestSettings
from tests.kubernetes.chart import CHART, kinds, templates

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.manifest_settings import Document

PLAN = "fairhold: 1\n# of the bank\nconsumers: {A: {}}\n"
CLUSTER_WIDE = {"Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding"}


def of_kind(objects: list[Document], kind: str) -> Document:
    (found,) = (each for each in objects if each["kind"] == kind)
    return found


def test_the_text_says_what_the_documents_say_and_is_always_the_same() -> None:
    settings = ManifestSettings("fair", "example.com/fairhold:2", plan=PLAN)
    text = text_of(documents(settings))
    assert list(yaml.safe_load_all(text)) == documents(settings)
    assert text == text_of(documents(settings))
    assert "  plan.yaml: |\n    fairhold: 1\n    # of the bank\n" in text
    assert "&id" not in text


def test_every_object_has_a_name_of_its_own_and_what_is_needed_comes_first() -> None:
    objects = documents(ManifestSettings(plan=PLAN))
    kinds = [each["kind"] for each in objects]
    assert len({(each["kind"], each["metadata"]["name"]) for each in objects}) == len(objects)
    assert kinds[:4] == ["Namespace", *2 * ["CustomResourceDefinition"], "ServiceAccount"]
    assert kinds[-4:] == ["ConfigMap", "PersistentVolumeClaim", "Deployment", "Service"]
    assert all(list(each)[:3] == ["apiVersion", "kind", "metadata"] for each in objects)
    for each in objects:
        is_global = each["kind"] in CLUSTER_WIDE or "Policy" in each["kind"]
        assert each["metadata"].get("namespace") == (None if is_global else "fairhold"), each["kind"]


def test_the_service_is_known_by_its_account_or_by_another_name() -> None:
    account, user = ManifestSettings("fair"), ManifestSettings("fair", user="carol\"'")
    assert 'request.userInfo.username != "system:serviceaccount:fair:fairhold"' in text_of(policies(account))
    conditions = [each["spec"].get("matchConditions", ()) for each in policies(user)]
    said = [row["expression"] for rows in conditions for row in rows if "username" in row["expression"]]
    assert said == [f'request.userInfo.username {sign} "carol\\"\'"' for sign in ("!=", "==")]
    for settings, kind in ((account, "ServiceAccount"), (user, "User")):
        for binding in ("ClusterRoleBinding", "RoleBinding"):
            assert of_kind(documents(settings), binding)["subjects"][0]["kind"] == kind


def test_without_a_plan_the_map_is_left_to_others_and_with_another_one_there_is_another_pod() -> None:
    without, one, other = (documents(ManifestSettings(plan=plan)) for plan in ("", PLAN, PLAN + "#\n"))
    assert [each["kind"] for each in without] == [each["kind"] for each in one if each["kind"] != "ConfigMap"]
    templates = [of_kind(each, "Deployment")["spec"]["template"] for each in (without, one, other)]
    assert len({each["metadata"]["annotations"]["fairhold.io/plan"] for each in templates}) == 3
    assert templates[0]["spec"] == templates[1]["spec"]
    assert {"name": "plan", "configMap": {"name": "fairhold-plan"}} in templates[0]["spec"]["volumes"]


LINE = re.compile(r"\{\{- (if not|if|range|else|end)(?: \.Values\.(\w+))? \}\}")


def rendered(values: dict[str, Any], namespace: str) -> list[Document]:
    """The objects of the chart, as Helm renders it; only what its templates use of Helm's language is known."""
    lines: list[str] = []
    for path in sorted(CHART.glob("*/*.yaml")):
        open_: list[tuple[bool, list[Any]]] = []
        for line in path.read_text().splitlines():
            found = LINE.fullmatch(line.strip())
            if found is None:
                each: Any = open_[-1][1] if open_ and open_[-1][1] else [None]
                lines += [
                    line.replace("{{ . | toJson }}", json.dumps(one))
                    for one in each
                    if all(is_on for is_on, _ in open_)
                ]
            elif found[1] == "end":
                open_.pop()
            elif found[1] == "else":
                open_[-1] = (not open_[-1][0], [])
            else:
                value = values[found[2]]
                open_.append((bool(value) is (found[1] != "if not"), value if found[1] == "range" else []))

    def value_of(found: re.Match[str]) -> str:
        said = values[found[1]]
        return json.dumps(hashlib.sha256(said.encode()).hexdigest() if found[2] else said)

    whole = "\n".join(lines).replace("{{ .Release.Namespace }}", namespace)
    whole = re.sub(r"\{\{ \.Values\.(\w+)( \| sha256sum)? \| toJson \}\}", value_of, whole)
    assert "{{" not in whole
    return list(yaml.safe_load_all(whole))


CHOSEN: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"plan": PLAN}, {"plan": PLAN}),
    ({"plan": PLAN, "image": "example.com/other:3", "replicas": 0, "storage": "9Gi"}, {}),
    ({"planObject": "research"}, {"plan_object": "research"}),
    ({"plan": PLAN, "observeOnly": True}, {"observes": True}),
    ({"oidcSecret": "sso"}, {"oidc_secret": "sso"}),
    ({"smtpSecret": "mail", "oidcSecret": "sso"}, {"smtp_secret": "mail", "oidc_secret": "sso"}),
    ({"viewer": False, "options": ["--keep-jobs=90d", "--log=debug"]}, {"has_viewers": False}),
]


@pytest.mark.parametrize(("values", "settings"), CHOSEN)
def test_the_chart_has_the_same_objects_but_the_namespace(values: dict[str, Any], settings: dict[str, Any]) -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text()) | values
    settings |= {name: values[name] for name in ("image", "replicas", "plan", "storage")}
    found = rendered(values, "fair")
    spec = of_kind(found, "Deployment")["spec"]["template"]["spec"]
    assert [spec.pop(key) for key in ("nodeSelector", "tolerations", "imagePullSecrets")] == [{}, [], []]
    expected = documents(ManifestSettings("fair", options=tuple(values["options"]), **settings))[1:]
    assert sorted(found, key=json.dumps) == sorted(expected, key=json.dumps)


def test_the_chart_says_where_the_service_runs_and_on_what_volume() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    values |= {"storageClass": "fast", "tolerations": [{"operator": "Exists"}], "resources": {"limits": {"cpu": 2}}}
    found = rendered(values, "fair")
    assert of_kind(found, "PersistentVolumeClaim")["spec"]["storageClassName"] == "fast"
    spec = of_kind(found, "Deployment")["spec"]["template"]["spec"]
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": 2}}


def test_secrets_are_files_of_the_pod_and_stand_in_no_argument() -> None:
    container = of_kind(documents(ManifestSettings(oidc_secret="sso", smtp_secret="mail")), "Deployment")
    spec = container["spec"]["template"]["spec"]
    words = spec["containers"][0]["args"]
    paths = {option: words[words.index(option) + 1] for option in ("--oidc-secret", "--smtp-secret")}
    mounts = {each["mountPath"]: each["name"] for each in spec["containers"][0]["volumeMounts"]}
    volumes = {each["name"]: each.get("secret") for each in spec["volumes"]}
    found = {option: volumes[mounts[path.removesuffix("/secret")]] for option, path in paths.items()}
    assert {option: secret["secretName"] for option, secret in found.items()} == {
        "--oidc-secret": "sso",
        "--smtp-secret": "mail",
    }
    assert all(secret["items"] == [{"key": "secret", "path": "secret"}] for secret in found.values())


def test_the_templates_are_those_that_are_written_and_the_chart_has_the_version() -> None:
    """`python -m tests.kubernetes.chart` writes them anew."""
    assert {path.name: path.read_text() for path in (CHART / "templates").iterdir()} == templates()
    assert (CHART / "crds" / "fairhold.yaml").read_text() == kinds()
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__
    assert f"fairhold:{__version__}" in (CHART.parents[1] / "Dockerfile").read_text()
