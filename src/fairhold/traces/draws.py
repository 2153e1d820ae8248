"""Chance in whole numbers: the same draws from the same seed on every machine, without a floating point anywhere.

A stream is a key, and its draws are SplitMix64 of key and counter (Steele, Lea, Flood: Fast splittable pseudorandom
number generators, 2014). Keys come from the seed and names, so that one stream more changes no other.
"""

from __future__ import annotations

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
BITS = 32
"""Fixed point: `1 << BITS` is one."""
ONE = 1 << BITS
_STEPS = 256
LN_2 = 2977044472
"""The logarithm of 2 in fixed point."""


def mixed(number: int) -> int:
    """64 bits of which each depends on every bit of the number: the finaliser of SplitMix64."""
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)


def stream_of(seed: int, *names: str) -> int:
    """The key of a stream: of the seed and the names, in order."""
    key = mixed(seed & _MASK)
    for name in names:
        for byte in name.encode():
            key = mixed((key + _GOLDEN + byte) & _MASK)
        key = mixed((key ^ _GOLDEN) & _MASK)
    return key


class Stream:
    """Draws of one stream, one after another.

    key   : of `stream_of`
    count : how many draws were made before
    """

    __slots__ = ("count", "key")

    def __init__(self, key: int, count: int = 0) -> None:
        self.key = key
        self.count = count

    def bits(self) -> int:
        """A whole number from 0 to 2⁶⁴ - 1."""
        self.count += 1
        return mixed((self.key + self.count * _GOLDEN) & _MASK)

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound - 1`; uneven by less than bound / 2⁶⁴."""
        return (self.bits() * bound) >> 64

    def exponential(self) -> int:
        """The time to the next of events that come once in a while, mean 1, in fixed point."""
        return -ln_of_part(self.bits())

    def geometric(self, mean: int) -> int:
        """How many there are in a group of at least one, in the mean `mean` (fixed point, at least one)."""
        stay = mean - ONE  # against ONE: whether another one follows
        count = 1
        while stay and self.below(mean) < stay and count < MOST_IN_GROUP:
            count += 1
        return count


MOST_IN_GROUP = 100_000


def _table() -> tuple[int, ...]:
    """ln(1 + i/256) in fixed point, i = 0 … 256, by the series of the area tangent in whole numbers."""
    fine = 96
    found = []
    for step in range(_STEPS + 1):
        part = (step << fine) // (2 * _STEPS + step)  # (x - 1) / (x + 1) of x = 1 + i/256
        square = (part * part) >> fine
        total, power, odd = 0, part, 1
        while power:
            total += power // odd
            power = (power * square) >> fine
            odd += 2
        found.append((2 * total) >> (fine - BITS))
    return tuple(found)


_LN = _table()


def ln_of_part(bits: int) -> int:
    """The logarithm of (bits + 1) / 2⁶⁴ in fixed point, at most 0; right to 2⁻¹⁹."""
    return ln(bits + 1) - 64 * LN_2


def ln(number: int) -> int:
    """The logarithm of a whole number above 0 in fixed point."""
    length = number.bit_length() - 1
    shift = length - 40
    rest = (number >> shift if shift >= 0 else number << -shift) - (1 << 40)
    step, part = rest >> 32, rest & (ONE - 1)
    low = _LN[step]
    return length * LN_2 + low + (((_LN[step + 1] - low) * part) >> BITS)


def exp(power: int) -> int:
    """E to a power, both in fixed point."""
    twos, rest = divmod(power, LN_2)
    total, term = ONE, ONE
    for step in range(1, 16):
        term = (term * rest >> BITS) // step
        total += term
    return total << twos if twos >= 0 else total >> -twos
