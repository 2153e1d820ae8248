"""A Monte-Carlo price of a European call option: real work for one slot, and its own proof.

The price is compared with the formula of Black and Scholes. Prints one line of JSON; exits 1 where the two differ by
more than five standard errors, which happens by chance once in two million runs.

    python examples/price.py --seed 7 --strike 105 --paths 200000
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
from dataclasses import dataclass
from statistics import NormalDist

ALLOWED_ERRORS = 5.0


@dataclass(frozen=True)
class Call:
    """A European call: `years` to expiry, rate and volatility a year as fractions."""

    spot: float = 100.0
    strike: float = 100.0
    rate: float = 0.02
    volatility: float = 0.2
    years: float = 1.0

    @property
    def _spread(self) -> float:
        return self.volatility * math.sqrt(self.years)

    def formula(self) -> float:
        """The price by Black and Scholes."""
        forward = self.spot * math.exp(self.rate * self.years)
        ahead = math.log(forward / self.strike) / self._spread + self._spread / 2
        normal = NormalDist().cdf
        value = forward * normal(ahead) - self.strike * normal(ahead - self._spread)
        return math.exp(-self.rate * self.years) * value

    def simulate(self, paths: int, seed: int) -> tuple[float, float]:
        """The price by simulation, and its standard error."""
        gauss = random.Random(seed).gauss
        drift = math.log(self.spot) + (self.rate - self.volatility**2 / 2) * self.years
        spread, strike, exp = self._spread, self.strike, math.exp
        total = squares = 0.0
        for _ in range(paths):
            payoff = exp(drift + spread * gauss(0.0, 1.0)) - strike
            if payoff > 0.0:
                total += payoff
                squares += payoff * payoff
        mean = total / paths
        discount = math.exp(-self.rate * self.years)
        return discount * mean, discount * math.sqrt((squares / paths - mean * mean) / paths)


def main() -> int:
    """Price one option; returns the exit code."""
    parser = argparse.ArgumentParser(description="Price a European call by simulation and check the price.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strike", type=float, default=100.0)
    parser.add_argument("--paths", type=int, default=200_000)
    chosen = parser.parse_args()
    call = Call(strike=chosen.strike)
    price, error = call.simulate(chosen.paths, chosen.seed)
    formula = call.formula()
    is_right = abs(price - formula) <= ALLOWED_ERRORS * error
    result = {
        "consumer": os.environ.get("FAIRHOLD_CONSUMER", ""),
        "seed": chosen.seed,
        "strike": call.strike,
        "paths": chosen.paths,
        "price": price,
        "error": error,
        "formula": formula,
        "is_right": is_right,
    }
    # The work is done: a notice that comes now is too late to undo it, and the line is written whole.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(json.dumps(result), flush=True)
    return 0 if is_right else 1


if __name__ == "__main__":
    raise SystemExit(main())
