"""Fair shares of queues of one resource, level by level from the top (R-QUEUE-1, R-QUEUE-2, R-QUEUE-3, R-QUEUE-4).

Its slow twin, which also counts history, is `rules/queues/dividing` under `rules/queues/shares`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels._jit import kernel, lasting, part

if TYPE_CHECKING:
    from array import array


@lasting
class QueueColumns(NamedTuple):
    """Settings of queues by row, parents before their children.

    parent     : (rows,) the root's is itself
    first, end : (rows,) where a row's children stand in `child`
    child      : those that take part, of each row together, higher priorities first, then in plan order
    is_parent  : (rows,) 1 = it has any
    priority, weight, deserved, limit : (rows,); deserved: `UNLIMITED` = all that the parent has
    """

    parent: array[int]
    first: array[int]
    end: array[int]
    child: array[int]
    is_parent: array[int]
    priority: array[int]
    weight: array[int]
    deserved: array[int]
    limit: array[int]


class Scratch(NamedTuple):
    """Columns to compute on, (rows,) each; nothing in them lasts."""

    new: array[int]
    rest: array[int]
    line: array[int]


@kernel
def divide_queues(
    queues: QueueColumns,
    step: int,
    unlimited: int,
    requested: array[int],
    wanted: array[int],
    again: array[int],
    share: array[int],
    scratch: Scratch,
) -> None:
    """Put right what queues can use and what they are entitled to, where that is another than before.

    step      : base units that surplus is given in
    requested : (rows,) base units that are held and waited for
    wanted    : in and out, (rows,) what each can use
    again     : in and out, (rows,) 1 = it is to be divided among its children again; 0 everywhere in the end
    share     : in and out, (rows,) fair shares; the root's is given
    """
    for row in range(len(wanted) - 1, -1, -1):
        most = requested[row]
        if queues.first[row] < queues.end[row]:
            most = 0
            for at in range(queues.first[row], queues.end[row]):
                most += wanted[queues.child[at]]
        most = min(most, queues.limit[row])
        if most != wanted[row]:
            wanted[row] = most
            again[queues.parent[row]] = 1
    for row in range(len(wanted)):
        if again[row] == 1:
            again[row] = 0
            divide_below(queues, row, share[row], step, unlimited, wanted, scratch)
            for at in range(queues.first[row], queues.end[row]):
                child = queues.child[at]
                if share[child] != scratch.new[child]:
                    share[child] = scratch.new[child]
                    again[child] = 1


@part
def divide_below(
    queues: QueueColumns, row: int, mine: int, step: int, unlimited: int, wanted: array[int], scratch: Scratch
) -> None:
    """What the children of a row are entitled to, into `scratch.new`: what they deserve, then surplus band by band."""
    new = scratch.new
    left = mine
    for at in range(queues.first[row], queues.end[row]):
        child = queues.child[at]
        deserved = mine if queues.deserved[child] >= unlimited else queues.deserved[child]
        new[child] = min(deserved, wanted[child])
        left -= new[child]
    begin = queues.first[row]
    while begin < queues.end[row] and left > 0:
        stop = begin
        while stop < queues.end[row] and queues.priority[queues.child[stop]] == queues.priority[queues.child[begin]]:
            stop += 1
        left = pour_band(queues, begin, stop, left, step, wanted, scratch)
        begin = stop


@part
def pour_band(
    queues: QueueColumns, begin: int, stop: int, left: int, step: int, wanted: array[int], scratch: Scratch
) -> int:
    """Fill one band by weights up to what each can use, rounded to steps; what is left of the amount."""
    new, line, child, weight = scratch.new, scratch.line, queues.child, queues.weight
    caps = 0
    weights = 0
    number = 0
    for at in range(begin, stop):
        row = child[at]
        if wanted[row] > new[row] and weight[row] > 0:
            line[number] = at
            number += 1
            caps += wanted[row] - new[row]
            weights += weight[row]
    if caps <= left:
        for at in range(number):
            new[child[line[at]]] = wanted[child[line[at]]]
        return left - caps
    is_any = True
    while is_any:  # whoever is full below the common level has its cap
        is_any = False
        open_ = 0
        for at in range(number):
            row = child[line[at]]
            cap = wanted[row] - new[row]
            if cap * weights <= left * weight[row]:
                new[row] = wanted[row]
                left -= cap
                weights -= weight[row]
                is_any = True
            else:
                line[open_] = line[at]
                open_ += 1
        number = open_
    round_off(child, weight, weights, number, left, step, wanted, scratch)
    return 0


@part
def round_off(
    child: array[int],
    weight: array[int],
    weights: int,
    number: int,
    left: int,
    step: int,
    wanted: array[int],
    scratch: Scratch,
) -> None:
    """Give an amount in whole steps to who is not full: rounded down, then what that leaves by the largest fraction.

    number : of those at the begin of `scratch.line`; weights: theirs together
    """
    new, line = scratch.new, scratch.line
    level = left
    whole = weights * step
    for at in range(number):
        row = child[line[at]]
        steps = level * weight[row] // whole
        scratch.rest[row] = level * weight[row] - steps * whole
        new[row] += steps * step
        left -= steps * step
    open_ = 0
    while left > 0:  # a step to each: by the largest rest, then in plan order; round after round
        if open_ == 0:
            open_ = number
            for start in range(number // 2 - 1, -1, -1):
                sift(child, start, number, scratch)
        row = child[line[0]]
        more = min(step, wanted[row] - new[row], left)
        new[row] += more
        left -= more
        open_ -= 1
        line[0], line[open_] = line[open_], line[0]
        sift(child, 0, open_, scratch)


@part
def sift(child: array[int], start: int, end: int, scratch: Scratch) -> None:
    """Let a place sink in a heap that has on top what comes first."""
    line, rest = scratch.line, scratch.rest
    at, mine = start, line[start]
    while 2 * at + 1 < end:
        low = 2 * at + 1
        if low + 1 < end and is_first(child, line[low + 1], line[low], rest):
            low += 1
        if not is_first(child, line[low], mine, rest):
            break
        line[at] = line[low]
        at = low
    line[at] = mine


@part
def is_first(child: array[int], one: int, other: int, rest: array[int]) -> bool:
    """Whether one place comes before another."""
    mine, theirs = rest[child[one]], rest[child[other]]
    return mine > theirs or (mine == theirs and one < other)
