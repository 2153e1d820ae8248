"""Who there is and what each may do, in a live service. Changed in the desk's thread; any thread may ask."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING, NamedTuple

from fairhold.access.document import Access
from fairhold.access.rights import rights_of
from fairhold.access.tokens import SECRET_BYTES, Token
from fairhold.errors import Fault, InputError
from fairhold.planio.access import parse_access
from fairhold.ports.people import IDENTITY, AccessVersion, TokenRecord

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from fairhold.access.rights import Rights
    from fairhold.model.tree import ConsumerTree
    from fairhold.ports import Store
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.journal import Journal

NAME = "the new access document"
_MARK_BYTES = 4
_NOBODY = Access()
_MOST_RIGHTS = 100_000
"""People whose rights are kept ready: a provider may know more than the document lists."""
_LOG = logging.getLogger("fairhold")


class Wished(NamedTuple):
    """A token that somebody wants made; expires: instant, 0 = never; creator: who asks."""

    user: str
    name: str
    expires: int
    creator: str


class People:
    """The access document in force and all tokens.

    version : of the document, 0 = there is none
    access  : what it says
    broken  : why the document in force cannot be read; then it gives nobody anything; empty = it can
    mark    : of this cluster, which its tokens bear; empty = it has made none
    """

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store, self._journal = store, journal
        self.version = 0
        self.access = _NOBODY
        self.broken = ""
        self.mark = ""
        self.text = ""
        self._tokens: dict[int, TokenRecord] = {}
        self._rights: dict[tuple[str, Collection[str]], Rights] = {}

    def open(self) -> None:
        """Take up what the store has. What cannot be read gives nobody anything: only administrators get in."""
        self.mark = self._store.meta().get(IDENTITY, "")
        self._tokens = {token.number: token for token in self._store.tokens()}
        found = self._store.access()
        if found is None:
            return
        self.version, self.text = found.version, found.text
        try:
            self.access = parse_access(found.text, f"access document {found.version}")[0]
        except InputError as error:
            self.broken = str(error)
            _LOG.error("the access document in force cannot be read, and gives nobody anything: %s", error)

    # Any thread

    def knows(self, user: str, groups: Collection[str] = ()) -> bool:
        """Whether the document in force has such a user or service account, or one of the groups."""
        return self.access.knows(user, groups)

    def rights(self, user: str, groups: tuple[str, ...] = ()) -> Rights:
        """What a person may do; groups: those in which the provider says he is."""
        rights, known = self._rights, self._rights.get((user, groups))
        if known is None:
            known = rights_of(self.access, user, groups)
            if len(rights) < _MOST_RIGHTS:
                rights[user, groups] = known
        return known

    def token(self, number: int) -> TokenRecord | None:
        """What is kept of a token."""
        return self._tokens.get(number)

    def tokens(self) -> list[TokenRecord]:
        """All tokens by number."""
        return [*self._tokens.values()]

    # In the desk's thread

    def apply(self, core: Core, text: str, said: tuple[str, str], seen: int) -> int:
        """Put another document in force, whole or not at all; returns its version.

        said : author and comment; seen: version that it was made from
        InputError where it is at fault; the one in force stays.
        """
        if seen != self.version:
            what = f"access document {self.version} is in force, and the change was made from {seen}"
            raise InputError([Fault("access-changed", what, "read the one in force and make the change again")])
        access = checked(core, text)[0]
        version = AccessVersion(self.version + 1, core.now(), *said, text)
        self._journal.write(lambda batch: batch.put_access(version))
        self.version, self.text, self.access, self.broken = version.version, text, access, ""
        self._rights = {}
        return self.version

    def create(self, core: Core, wished: Wished) -> tuple[TokenRecord, str]:
        """Make a token; what is kept of it, and its text, which is told this once."""
        if not self.mark:
            self.mark = mark = secrets.token_hex(_MARK_BYTES)
            self._journal.write(lambda batch: batch.put_meta(IDENTITY, mark))
        token = Token(self.mark, max(self._tokens, default=0) + 1, secrets.token_urlsafe(SECRET_BYTES))
        digest, now = token.digest(), core.now()
        kept = TokenRecord(token.number, wished.user, wished.name, digest, now, wished.expires, wished.creator)
        self._keep(kept)
        return kept, token.text()

    def revoke(self, core: Core, number: int) -> TokenRecord:
        """Let a token count no more; once is enough."""
        token = self._tokens[number]
        if not token.revoked:
            self._keep(token._replace(revoked=core.now()))
        return self._tokens[number]

    def _keep(self, token: TokenRecord) -> None:
        self._tokens[token.number] = token
        self._journal.write(lambda batch: batch.put_token(token))

    def used(self, instants: Mapping[int, int]) -> None:
        """Keep when tokens were used last: number → instant."""
        for number, instant in instants.items():
            self._tokens[number] = self._tokens[number]._replace(used=instant)
        self._journal.write(lambda batch: batch.use_tokens(instants))


def checked(core: Core, text: str) -> tuple[Access, list[Fault]]:
    """An access document that somebody wants in force, and warnings about it; InputError with all its faults."""
    access, warnings = parse_access(text, NAME, core.plan.tree)
    if access.cluster and core.plan.cluster and access.cluster != core.plan.cluster:
        what = f"this document is of the cluster `{access.cluster}`, and this one is `{core.plan.cluster}`"
        raise InputError([Fault("other-cluster", what, "apply it there, or mend `cluster`", ("cluster",))])
    return access, [*warnings, *_gone(core, access)]


def _gone(core: Core, access: Access) -> Iterator[Fault]:
    """People of the document in force that are not in another one, and have jobs that have not ended."""
    before = core.people.access
    gone = (before.users | before.service_accounts) - access.users - access.service_accounts
    if not gone:
        return
    jobs = dict.fromkeys(sorted(gone), 0)
    for job in core.orchestrator.jobs.values():
        if job.terms.user in jobs and not job.is_over:
            jobs[job.terms.user] += 1
    for user, number in jobs.items():
        if number:
            told = "1 job has" if number == 1 else f"{number} jobs have"
            what = f"`{user}` may not ask any more, and {told} not ended: what runs goes on"
            yield Fault("person-gone", what, f"to stop it: cancel what `fairhold jobs --user {user}` shows", ("users",))


def dead_bindings(access: Access, tree: ConsumerTree, before: ConsumerTree | None = None) -> Iterator[Fault]:
    """Bindings for consumers that a plan does not have; before: only those that this one of another plan has."""
    for at, binding in enumerate(access.bindings):
        if binding.at not in tree.rows and (before is None or binding.at in before.rows):
            what = f"no consumer `{binding.at}` is there, for which `{binding.role}` is bound: that gives nothing then"
            mend = "it is kept, and counts again with a plan that has it; else change the access document"
            yield Fault("dead-binding", what, mend, ("bindings", at))
