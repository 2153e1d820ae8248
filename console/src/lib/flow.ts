/** Who lends to whom, as bands from lenders to borrowers. */
import type { Schemas } from "../api/client";
import { amount } from "./format";

export type Pair = Schemas["Loan"];

export interface Side {
  path: string;
  units: number;
}

interface Band {
  pair: Pair;
  /** Of an SVG that is 100 wide. */
  path: string;
}

const MOST = 14;
const THICK = 16;

function sums(pairs: readonly Pair[], of: (pair: Pair) => string): Side[] {
  const found = new Map<string, number>();
  for (const pair of pairs) found.set(of(pair), (found.get(of(pair)) ?? 0) + amount(pair.units));
  return [...found].map(([path, units]) => ({ path, units }));
}

/** The largest pairs: both sides in rows of `line` height, a band for each pair; and how many pairs are left out. */
export function layOut(pairs: readonly Pair[], line: number): { lenders: Side[]; borrowers: Side[]; bands: Band[]; more: number } {
  const shown = [...pairs].sort((a, b) => amount(b.units) - amount(a.units)).slice(0, MOST);
  const lenders = sums(shown, (pair) => pair.lender);
  const borrowers = sums(shown, (pair) => pair.borrower);
  const widest = Math.max(1e-9, ...lenders.map((each) => each.units), ...borrowers.map((each) => each.units));
  const scale = (units: number): number => (THICK * units) / widest;
  const starts = (side: readonly Side[]) => new Map(side.map(({ path, units }, at) => [path, at * line + line / 2 - scale(units) / 2]));
  const [left, right] = [starts(lenders), starts(borrowers)];
  const bands = shown.map((pair) => {
    const thick = scale(amount(pair.units));
    const [from, to] = [left.get(pair.lender)!, right.get(pair.borrower)!];
    left.set(pair.lender, from + thick);
    right.set(pair.borrower, to + thick);
    const end = (at: number): number => at + Math.max(thick, 1.5);
    return { pair, path: `M0,${from} C50,${from} 50,${to} 100,${to} L100,${end(to)} C50,${end(to)} 50,${end(from)} 0,${end(from)} Z` };
  });
  return { lenders, borrowers, bands, more: pairs.length - shown.length };
}
