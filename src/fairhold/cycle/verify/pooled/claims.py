"""What siblings shall own of their parent's hosts, and what they own (R-ADJUST-0 to R-ADJUST-3)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import Amounts, excess, lower, minus, summed
from fairhold.cycle.verify.pooled.claim import Claim
from fairhold.cycle.verify.pooled.stock import preference_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fairhold.cycle.verify.pooled.stock import Chain, Host
    from fairhold.cycle.verify.pooled.terms import Terms
    from fairhold.model.vector import Owning


class Claims:
    """The children of one consumer.

    space  : host → what there is to own of it; chains: host → those that it is carved out of
    former : claim → host → what was its own, and nobody used
    known  : hosts of which some sibling owned something
    """

    def __init__(
        self,
        terms: Terms,
        owner: str,
        space: dict[Host, Amounts],
        chains: dict[Host, Chain],
        *,
        load: dict[str, Fraction],
        steps: Amounts,
    ) -> None:
        self.terms, self.space, self.chains, self.load, self.steps = terms, space, chains, load, steps
        self.paths = sorted((path for path in terms.children[owner] if terms.own[path]), key=terms.order.__getitem__)
        self.claims = [Claim(path, entry) for path in self.paths for entry in terms.own[path]]
        self.former: dict[Claim, dict[Host, Amounts]] = {claim: {} for claim in self.claims}
        self.known: set[Host] = set()
        self._unused: dict[tuple[Claim, Host], None] = {}
        self._aim()

    def _of(self, group: str) -> list[Host]:
        return [host for host in self.space if host.group == group]

    def _aim(self) -> None:
        """Set targets: from rank to rank names, then numbers and percentages; what remains after all of them."""
        left = {host.group: len(self._of(host.group)) for host in self.space}
        for claim in sorted(self.claims, key=lambda each: (self._rank(each), not each.entry.names)):
            entry, public = claim.entry, left.get(claim.group, 0)
            if entry.per_host or entry.total:
                continue
            there = self._of(claim.group)
            want = public if entry.remaining else entry.hosts or 0
            if entry.names:
                want = sum(host.name in entry.names for host in there)
            elif entry.percent is not None:
                want = entry.percent.numerator * len(there) // entry.percent.denominator
            claim.target = min(want, public)
            left[claim.group] = public - claim.target

    def _rank(self, claim: Claim) -> int:
        """The rank in which an entry takes and gives: `remaining` comes after every other."""
        ranks = self.terms.rank
        return max(ranks[path] for path in self.paths) + 1 if claim.entry.remaining else ranks[claim.path]

    def remember(self, path: str, host: Host, amounts: Amounts, said: Mapping[int, Amounts], *, is_busy: bool) -> None:
        """Take in what a child owned: whose it was, else an entry that still asks for it, has it (R-ADJUST-1)."""
        amounts = lower(amounts, self._public(host))
        mine = [claim for claim in self.claims if (claim.path, claim.group) == (path, host.group)]
        named = [claim for claim in mine if host.name in claim.entry.names]
        able = named or [claim for claim in mine if not claim.entry.names]
        if able and any(amounts):
            self.known.add(host)
            listed = [claim for claim in self.claims if claim.path == path]
            naming = [at for at, claim in enumerate(listed) if host.name in claim.entry.names]
            for at in sorted(said) if not naming or any(at in said for at in naming) else ():
                if at < len(listed) and listed[at].group == host.group and (at in naming or not listed[at].entry.names):
                    amounts = self._give(listed[at], host, lower(said[at], amounts), amounts, is_busy=is_busy)
            if not any(amounts):
                return
            for claim in able if len(able) == 1 else self._likely(able, host, amounts):
                part = amounts
                if claim.entry.per_host:  # what is beyond the part is let go before the next child has its own
                    part = lower(amounts, self._part(claim.entry, host))
                amounts = self._give(claim, host, part, amounts, is_busy=is_busy)

    def _give(self, claim: Claim, host: Host, part: Amounts, amounts: Amounts, *, is_busy: bool) -> Amounts:
        """Let a claim have a part of what was owned of a host; the rest of that."""
        if any(part):
            claim.add(host, part)
            if not is_busy:
                self._unused[claim, host] = None
        return minus(amounts, part)

    def _likely(self, able: list[Claim], host: Host, amounts: Amounts) -> Iterator[Claim]:
        """Of several entries those that have had a host, by how much it was (R-ADJUST-1)."""
        asking = [each for each in able if self._asks(each, host)]
        is_whole = amounts == self.space[host]
        if is_whole and any(each.target is not None for each in asking):
            yield next(each for each in asking if each.target is not None)
            return
        yield from (each for each in asking if each.entry.per_host)

        def fit(claim: Claim) -> int:
            lack = self._lack(claim)
            if claim.entry.total and all(amounts[at] <= lack.get(at, 0) for at, _ in claim.entry.total):
                return 0
            return 1 if claim in asking else 2

        yield from sorted((each for each in able if not each.entry.per_host), key=fit)[:1]

    def _asks(self, claim: Claim, host: Host) -> bool:
        if claim.target is not None:
            return len(claim.has) < claim.target
        return host not in claim.has if claim.entry.per_host else bool(self._lack(claim))

    def _lack(self, claim: Claim) -> dict[int, int]:
        """Of a total, what is missing, by place of the resource."""
        have = summed(claim.has.values(), self.terms.width)
        return {at: most - have[at] for at, most in claim.entry.total if most > have[at]}

    def settle(self) -> None:
        """Let go what nobody uses, then what is beyond the targets; then who is short takes."""
        for claim, host in self._unused:
            self.former[claim][host] = claim.has.pop(host)
        for mine in self._lines_of_hosts():
            self._trim_hosts(mine)
        for claim in self.claims:
            if claim.target is None:
                self._trim_parts(claim)
        order = self.terms.order
        line = sorted(self.claims, key=lambda c: (self._rank(c), order[c.path], not c.entry.names))
        for claim in line:
            self._fill_up(claim, {host for has in self.former.values() for host in has})
            if claim.entry.per_host:
                self._take_of_every_host(claim)
            elif claim.entry.total:
                self._take_total(claim)
            else:
                self._take_hosts(claim)
        for claim in line:
            self._fill_up(claim, set())

    def _fill_up(self, claim: Claim, awaited: set[Host]) -> None:
        """What is nobody's of its whole hosts is its own; awaited: hosts of which some was let go, which comes back."""
        for host in list(claim.has) if claim.target is not None else ():
            was = [has[host] for has in self.former.values() if host in has] if host in awaited else []
            claim.add(host, excess(self._public(host), summed(was, self.terms.width)))

    def sort_out(self, is_lent: Callable[[str, Host, Amounts], bool]) -> None:
        """Which host is of which entry of a consumer; is_lent: whether others stand on what one has of a host."""
        if any(self.unmet()):
            return
        for path, group in dict.fromkeys((each.path, each.group) for each in self.claims):
            self._sort_out([each for each in self.claims if (each.path, each.group) == (path, group)], is_lent)

    def _sort_out(self, mine: list[Claim], is_lent: Callable[[str, Host, Amounts], bool]) -> None:
        """Where entries may stand for one another a reserved one gives hosts with others' units for such without."""
        alike = [each for each in mine if each.target is not None and not each.entry.names]
        of_one = {host for each in mine for host in each.has if sum(host in other.has for other in mine) == 1}
        line = sorted(((each, host) for each in alike for host in each.has if host in of_one), key=_place)
        gives = [(c, host) for c, host in line if c.entry.reserved and is_lent(c.path, host, c.has[host])]
        free = [pair for pair in line if not pair[0].entry.reserved and not self._has_others(*pair)]
        for claim, host in gives[: len(free)]:
            other, better = free.pop(0)
            claim.has[better], other.has[host] = other.has.pop(better), claim.has.pop(host)

    def _has_others(self, claim: Claim, host: Host) -> bool:
        return any(claim.path not in self.terms.up[unit.asked.leaf] for unit in host.units)

    def unmet(self) -> Iterator[tuple[Claim, Amounts, Amounts]]:
        """Entries that have less than they ask for, with what they have and ask for: hosts, or of a total amounts."""
        for claim in self.claims:
            entry, there = claim.entry, self._of(claim.group)
            if entry.total:
                have, stated = summed(claim.has.values(), self.terms.width), dict(entry.total)
                if self._lack(claim):
                    yield claim, have, tuple(stated.get(at, 0) for at in range(len(have)))
                continue
            has, asks = len(claim.has), len(entry.names) or entry.hosts or 0
            if entry.percent is not None:
                asks = entry.percent.numerator * len(there) // entry.percent.denominator
            if entry.per_host:
                none = (0,) * self.terms.width
                short = [host for host in there if any(excess(self._part(entry, host), claim.has.get(host, none)))]
                has, asks = len(there) - len(short), len(there)
            if has < asks:
                yield claim, (has,), (asks,)

    def _lines_of_hosts(self) -> list[list[Claim]]:
        """Claims to whole hosts; those of one consumer and group together, but for those by name."""
        lines: dict[object, list[Claim]] = {}
        for claim in self.claims:
            if claim.target is not None:
                lines.setdefault(claim if claim.entry.names else (claim.path, claim.group), []).append(claim)
        return list(lines.values())

    def _trim_hosts(self, mine: list[Claim]) -> None:
        """Give up the least workload first, the worst preference, the last in inventory (R-ADJUST-2).

        Who then has more hosts than its claim is for has them for another of the same consumer.
        """
        most = sum(claim.target or 0 for claim in mine)
        pairs = [(claim, host) for claim in mine for host in claim.has]
        worst = {pair: (self.load[pair[1].name], -self._preference(*pair), -pair[1].place) for pair in pairs}
        for claim, host in sorted(pairs, key=worst.__getitem__)[: max(0, len(pairs) - most)]:
            del claim.has[host]
        for claim in mine:
            while len(claim.has) > (claim.target or 0):
                host = max(claim.has, key=lambda host: host.place)
                other = next(each for each in mine if len(each.has) < (each.target or 0))
                other.add(host, claim.has.pop(host))

    def _preference(self, claim: Claim, host: Host) -> int:
        return preference_in(((claim.path, claim.entry), *self.chains[host]))

    def _trim_parts(self, claim: Claim) -> None:
        """The same of parts of hosts; one that comes to nothing is none."""
        order = sorted(claim.has, key=lambda host: (self.load[host.name], -self._preference(claim, host), -host.place))
        if claim.entry.per_host:
            for host in order:
                claim.lose(host, excess(claim.has[host], self._part(claim.entry, host)))
        else:
            self._trim_total(claim, order)

    def _trim_total(self, claim: Claim, order: list[Host]) -> None:
        has = summed(claim.has.values(), self.terms.width)
        for host in order:
            others = minus(has, claim.has[host])
            need = {at: max(0, most - others[at]) for at, most in claim.entry.total}
            if any(claim.has[host][at] > most for at, most in need.items()) or _is_empty(claim, host):
                stays = self._following(claim.has[host], need)
                claim.lose(host, minus(claim.has[host], stays))
                has = summed((others, stays), self.terms.width)

    def _part(self, entry: Owning, host: Host) -> Amounts:
        """What `per_host` asks of a host; what it does not name follows the largest part named."""
        whole = self.space[host]
        parts = {
            at: each if isinstance(each, Fraction) else Fraction(each, whole[at])
            for at, each in entry.per_host
            if whole[at]
        }
        wants = {
            at: each.numerator * whole[at] // each.denominator if isinstance(each, Fraction) else each
            for at, each in entry.per_host
        }
        return self._stepped(whole, wants, min(Fraction(1), max(parts.values(), default=Fraction(0))))

    def _following(self, there: Amounts, need: dict[int, int]) -> Amounts:
        """Of what there is so much as is needed; what is not named follows the largest part needed."""
        parts = [min(Fraction(1), Fraction(most, there[at])) for at, most in need.items() if there[at]]
        return self._stepped(there, need, max(parts, default=Fraction(0)))

    def _stepped(self, there: Amounts, wants: dict[int, int], part: Fraction) -> Amounts:
        """At most what there is; less than all only in whole steps, rounded down."""
        found = [
            min(have, wants[at]) if at in wants else have * part.numerator // part.denominator
            for at, have in enumerate(there)
        ]
        return tuple(
            mine if mine == have else mine // step * step
            for mine, have, step in zip(found, there, self.steps, strict=True)
        )

    def _public(self, host: Host) -> Amounts:
        """What none of the siblings owns."""
        return minus(self.space[host], summed((c.has[host] for c in self.claims if host in c.has), self.terms.width))

    def _order(self, claim: Claim, hosts: Iterable[Host]) -> list[Host]:
        """Formerly its own, of whole hosts first; then its consumer's; least workload; never owned; inventory order."""
        mine = self.former[claim]
        others = {host for each in self.claims if each.path == claim.path for host in self.former[each]}

        def turn(host: Host) -> tuple[int, bool, Fraction, bool, int]:
            was = 0 if host in mine else 1 if host in others else 2
            is_part = was == 0 and claim.target is not None and bool(self._owners(host))
            return was, is_part, self.load[host.name], host in self.known, host.place

        return sorted(hosts, key=turn)

    def _owners(self, host: Host) -> list[Claim]:
        """Claims on a host, those of the worst rank first."""
        return sorted((c for c in self.claims if host in c.has), key=lambda c: -self._rank(c))

    def _worse(self, claim: Claim, host: Host) -> list[Claim]:
        return [each for each in self._owners(host) if self._rank(each) > self._rank(claim)]

    def _take_hosts(self, claim: Claim) -> None:
        """Public hosts, whole hosts of worse ranks, then parts that better ranks left, each counting as a host."""
        hosts = self._order(claim, self._of(claim.group))
        if claim.entry.names:
            for host in hosts:
                if host.name in claim.entry.names and host not in claim.has:
                    self._oust(claim, host)
            return
        called = self._called(claim)
        hosts.sort(key=lambda host: called.get(host.name, 0))

        def short() -> bool:
            return len(claim.has) < (claim.target or 0)

        for host in hosts:
            was = self.former[claim].get(host)
            if short() and not self._owners(host):
                claim.add(host, self.space[host])
            elif short() and was and not any(excess(was, self._public(host))):
                claim.add(host, was)
        of_worse = [host for host in hosts if self._worse(claim, host)]
        worst = {host: -self._rank(self._owners(host)[0]) for host in of_worse}
        of_worse.sort(key=lambda host: (called.get(host.name, 0), worst[host], self.load[host.name]))
        parts = [host for host in of_worse if len(self._worse(claim, host)) < len(self._owners(host))]
        wholes = [host for host in of_worse if host not in parts]
        for host in [*wholes, *(each for each in hosts if each not in of_worse), *parts]:
            if short() and host not in claim.has:
                self._oust(claim, host)

    def _called(self, claim: Claim) -> dict[str, int]:
        """Names of hosts that somebody calls for: below the claim's consumer -1 (first), below others 1, others 2."""
        said: dict[str, int] = {}
        for path in (path for path in self.terms.own if path not in self.paths):
            if above := next((each for each in self.paths if path.startswith(each + "/")), None):
                for name in (name for entry in self.terms.own[path] for name in entry.names):
                    said[name] = -1 if above == claim.path else said.get(name, 1)
        return said | {name: 2 for each in self.claims for name in each.entry.names}

    def _oust(self, claim: Claim, host: Host) -> None:
        """Take of a host what is nobody's or a worse rank's."""
        for each in self._worse(claim, host):
            del each.has[host]
        claim.add(host, self._public(host))

    def _take_total(self, claim: Claim) -> None:
        """Parts host by host until the total is met: its own of before, public ones, those of worse ranks."""
        hosts, former = self._of(claim.group), self.former[claim]
        for host in self._order(claim, hosts):
            there = self._public(host)
            claim.add(host, self._needed(claim, lower(there, former[host]) if host in former else there))
        for host in self._order(claim, hosts):
            claim.add(host, self._needed(claim, self._public(host)))
        worse = [(each, host) for host in hosts for each in self._worse(claim, host)]
        worse.sort(key=lambda pair: (-self._rank(pair[0]), self.load[pair[1].name], pair[1].place))
        for each, host in worse:
            self._hand_over(each, claim, host, self._needed(claim, each.has[host]))

    def _needed(self, claim: Claim, there: Amounts) -> Amounts:
        """Of what there is so much as a total lacks; nothing of what is met, though it is named."""
        lack = self._lack(claim)
        return self._following(there, {at: lack.get(at, 0) for at, _ in claim.entry.total})

    def _take_of_every_host(self, claim: Claim) -> None:
        """Its part of every host: what is public, then of worse ranks."""
        for host in self._of(claim.group):
            nothing = (0,) * self.terms.width
            want = self._part(claim.entry, host)
            claim.add(host, lower(excess(want, claim.has.get(host, nothing)), self._public(host)))
            for each in self._worse(claim, host):
                more = excess(want, claim.has.get(host, nothing))
                self._hand_over(each, claim, host, lower(more, each.has[host]))

    def _hand_over(self, giver: Claim, taker: Claim, host: Host, amounts: Amounts) -> None:
        if any(amounts):
            giver.lose(host, amounts)
            if host in giver.has and giver.entry.total and _is_empty(giver, host):
                del giver.has[host]
            taker.add(host, amounts)


def _is_empty(claim: Claim, host: Host) -> bool:
    """Whether there is nothing on a host of what a total names."""
    return not any(claim.has[host][at] for at, _ in claim.entry.total)


def _place(pair: tuple[Claim, Host]) -> int:
    return pair[1].place
