"""Pods of a governed cluster: `kubernetes pods`, and `explain NAMESPACE/POD`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.explaining import consumer_in_words, explanation_in_words
from fairhold.cli.live.printing import clock, fitted, say, say_json
from fairhold.cli.pool_requests import called, what_would_help
from fairhold.client import looking, steps

if TYPE_CHECKING:
    from fairhold.cli.live.connection import Asked, Connection
    from fairhold.client.exchange import Document

_HEAD = ("namespace", "pod", "state", "consumer", "job", "node", "deadline", "reason", "text")
_SPARE = ("job", "consumer", "text", "node")
"""Columns that a narrow terminal does without, in this order."""
_NOTHING = "It does not wait for its turn, so there is nothing to suggest."
_WORDS = {"notice": "under notice"}


def list_pods(service: Asked, namespace: str, state: str, *, as_json: bool) -> None:
    """`kubernetes pods`: those that are governed and not over, and where they stand."""
    found = connect(service).run(steps.pods(namespace, state))
    if as_json:
        say_json(found)
        return
    rows = [[_cell(pod, column) for column in _HEAD] for pod in found["pods"]]
    more = f"\nand {found['left_out']} more: name a --namespace or a --state" if found["left_out"] else ""
    say((fitted(_HEAD, rows, _SPARE) if rows else "no pods") + more)


def explain_pod(service: Asked, namespace: str, name: str, *, as_json: bool) -> None:
    """Where a pod of a governed cluster stands, and why its job waits, or what was taken from it."""
    connection = connect(service)
    pod = connection.run(steps.pod(namespace, name))
    found = connection.run(steps.explanation(pod["job"])) if pod["job"] else None
    if as_json:
        say_json({"pod": pod, "explanation": found})
    else:
        say("\n\n".join([pod_in_words(pod), *([explanation_in_words(connection, found)] if found else ())]))


def suggest_for_pod(service: Asked, namespace: str, name: str, *, as_json: bool) -> None:
    """What would start a pod that waits: the smallest changes, as tried; of slots what gives its consumer one more."""
    connection = connect(service)
    pod = connection.run(steps.pod(namespace, name))
    found, text = _suggestions(connection, pod) if pod["state"] == "waiting" else (None, _NOTHING)
    if as_json:
        say_json({"pod": pod, "suggestions": found})
    else:
        say(f"{pod_in_words(pod)}\n\n{text}")


def _suggestions(connection: Connection, pod: Document) -> tuple[Document, str]:
    """What would start a pod, as a document and in words."""
    request = connection.run(steps.explanation(pod["job"])).get("request")
    if request is not None:
        found = {name: request.get(name) for name in ("would_help", "search")}
        return found, "\n".join(what_would_help(called(request, "job")))
    told = connection.run(looking.consumer_explanation(pod["consumer"]))["explanations"]
    found = {"would_help": [change for each in told for change in each.get("would_help") or ()]}
    return found, "\n\n".join(consumer_in_words(each) for each in told)


def pod_in_words(pod: Document) -> str:
    """Where a pod stands."""
    text = f"pod {pod['pod']} of {pod['namespace']} is {_WORDS.get(pod['state'], pod['state'])}"
    if pod["consumer"]:
        text += f", of {pod['consumer']}"
    if pod["node"]:
        text += f", on {pod['node']}"
    if pod["reason"]:
        text += f" ({pod['reason']}): {pod['text']}"
    if notice := pod["notice"]:
        taker = f" for {notice['taker']}" if notice.get("taker") else ""
        text += f"\nIt has to go by {clock(notice['deadline'])}{taker} ({notice['reason']})."
    if would := pod["would"]:
        taker = f" for {would['taker']}" if would["taker"] else ""
        told = {
            "start": f"start it now on {would['node']}",
            "notice": f"tell it now to go by {clock(would['deadline'])}{taker} ({would['reason']})",
            "stop": f"stop it now ({would['reason']})",
        }
        text += f"\nFairhold would {told[would['action']]}."
    return text


def _cell(pod: Document, column: str) -> object:
    if column == "deadline":
        return clock(pod["notice"]["deadline"]) if pod["notice"] else None
    value = pod[column]
    return value or None
