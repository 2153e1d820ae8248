"""JSON Schemas (draft 2020-12) of the files, for editors.

They describe form; what needs more than one value (known paths, sums) only the readers check. What policies read comes
into the schema of plans from their settings; those of other packages are among them.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fairhold.model.setting import Kind
from fairhold.planio.installed import all_policies
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.model.policy import Policy
    from fairhold.model.setting import Setting

    Json = dict[str, Any]

KINDS = ("plan", "state", "jobs", "access")
_NONE: Json = {"enum": ["none", None]}
_ZERO: Json = {"anyOf": [{"const": 0}, {"pattern": "^(0+(\\.0+)?(d|h|m|s|ms))+$"}]}
"""A duration that lasts no time, however it is written."""
_NAMED = {"type": "object", "propertyNames": {"$ref": "#/$defs/name"}}


def schema(kind: str) -> str:
    """Return the schema of one kind of file as JSON text; raises KeyError where `kind` is none of `KINDS`."""
    if kind not in KINDS:
        raise KeyError(kind)
    text = files("fairhold.planio").joinpath("schema", f"{kind}.json").read_text(encoding="utf-8")
    return _with_policies(json.loads(text)) if kind == "plan" else text


def _with_policies(document: Json) -> str:
    """The schema of plans with what the policies read."""
    policies = all_policies().values()
    entry, consumer = document["$defs"]["entry"], document["$defs"]["settings"]
    entry["properties"]["policy"]["enum"] = [policy.name for policy in policies]
    of_entry = _properties(each for policy in policies for each in policy.of_entry)
    of_consumer = _properties(each for policy in policies for each in policy.of_consumer)
    entry["properties"]["settings"]["anyOf"][0]["properties"] = of_entry
    consumer["anyOf"][0]["properties"] = of_consumer
    entry["allOf"] = [_of_policy(policy, of_entry, of_consumer) for policy in policies]
    return json.dumps(document, indent=2) + "\n"


def _properties(settings: Iterable[Setting]) -> Json:
    """Key → its form; where policies read it in several ways any of these."""
    forms: dict[str, list[Json]] = {}
    for setting in settings:
        known, form = forms.setdefault(setting.key, []), _form(setting)
        if form not in known:
            known.append(form)
    return {key: found[0] if len(found) == 1 else {"anyOf": found} for key, found in forms.items()}


def _of_policy(policy: Policy, of_entry: Json, of_consumer: Json) -> Json:
    """What entries of a policy may say."""
    then = {
        "settings": _only(policy.of_entry, of_entry),
        "consumers": {"additionalProperties": _only(policy.of_consumer, of_consumer)},
    }
    return {"if": {"properties": {"policy": {"const": policy.name}}}, "then": {"properties": then}}


def _only(settings: Sequence[Setting], known: Json) -> Json:
    """These keys and no others; where policies read a key in several ways in this one."""
    found: Json = {"propertyNames": {"enum": [each.key for each in settings]}}
    own = {each.key: _form(each) for each in settings if _form(each) != known[each.key]}
    return found | ({"properties": own} if own else {})


def _form(setting: Setting) -> Json:
    """What may be written as the value of a setting."""
    form = _BY_KIND[setting.kind] if setting.kind in _BY_KIND else _bounded(setting)
    if setting.kind is Kind.DURATION and setting.has_none:
        form = {"$ref": "#/$defs/bound"}
    elif setting.has_none:
        form = {"anyOf": [form, _NONE]}
    is_above_0 = setting.kind is Kind.DURATION and setting.zero is not None
    return {"description": setting.description} | form | ({"not": _ZERO} if is_above_0 else {})


def _bounded(setting: Setting) -> Json:
    """A word or a number between bounds."""
    if setting.kind is Kind.WORD:
        return {"enum": list(setting.words)}
    if setting.kind is Kind.NUMBER:
        return {"$ref": "#/$defs/number"} | ({"minimum": setting.least} if setting.least else {})
    if (setting.least, setting.most) == (0, LARGEST):
        return {"$ref": "#/$defs/whole"}
    return {"type": "integer", "minimum": setting.least, "maximum": setting.most}


def _by_resource(value: Json, *words: object) -> Json:
    """A value for each of some resources, or words for all of them."""
    return {"anyOf": [_NAMED | {"additionalProperties": value}, {"enum": list(words)}]}


_BY_KIND: dict[Kind, Json] = {
    Kind.FLAG: {"type": "boolean"},
    Kind.DURATION: {"$ref": "#/$defs/duration"},
    Kind.LEAD: {"anyOf": [{"$ref": "#/$defs/duration"}, {"const": "auto"}]},
    Kind.AMOUNTS: {"$ref": "#/$defs/amounts"},
    Kind.DESERVED: _by_resource({"anyOf": [{"$ref": "#/$defs/amount"}, {"const": "unlimited"}]}, "unlimited", None),
    Kind.LIMITS: _by_resource({"anyOf": [{"$ref": "#/$defs/amount"}, _NONE]}, "none", None),
    Kind.WEIGHTS: {
        "anyOf": [{"$ref": "#/$defs/number"}, _NAMED | {"additionalProperties": {"$ref": "#/$defs/number"}}]
    },
    Kind.USAGE_WINDOW: {"$ref": "#/$defs/usage_window"},
    Kind.BUDGET: {"$ref": "#/$defs/budget"},
    Kind.PEERS: {"type": "array", "items": {"$ref": "#/$defs/peer"}},
    Kind.OWN: {"type": "array", "items": {"$ref": "#/$defs/own"}},
}
