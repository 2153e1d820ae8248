/** The tree of consumers as rows of numbers in one unit: slots, or one resource of hosts. */
import type { Schemas } from "../api/client";
import { amount } from "./format";

type Consumer = Schemas["Consumer"];
type Group = Schemas["Group"];
type Amounts = NonNullable<Consumer["amounts"]>;

/** Numbers of one consumer; `own` is what it holds within what it owns, `idle` what nobody uses of that. */
export interface Numbers {
  path: string;
  depth: number;
  leaf: boolean;
  owned: number;
  own: number;
  borrowed: number;
  lent: number;
  idle: number;
  reclaiming: number;
  waiting: number;
  allocated: number;
  entitled: number;
  limit: number | null;
}

/** Resources of a group by name; empty where it shares slots. */
export function resourcesOf(group: Group): string[] {
  return Object.keys(group.resources ?? {});
}

export function numbersOf(consumer: Consumer, resource: string): Numbers {
  const of = (name: keyof Amounts, slots: number): number =>
    consumer.amounts ? amount(consumer.amounts[name][resource]) : slots;
  const owned = of("owned", consumer.owned);
  const allocated = of("allocated", consumer.allocated);
  const borrowed = Math.min(of("borrowed", consumer.borrowed), allocated);
  const lent = of("lent", consumer.lent);
  const own = allocated - borrowed;
  const limit = consumer.amounts ? (consumer.queue?.resources[resource]?.limit ?? null) : consumer.limit;
  return {
    path: consumer.path,
    depth: depthOf(consumer.path),
    leaf: consumer.leaf,
    owned,
    own,
    borrowed,
    lent,
    idle: Math.max(0, owned - own - lent),
    reclaiming: Math.min(of("reclaiming", consumer.reclaiming), allocated),
    waiting: of("waiting", consumer.waiting),
    allocated,
    entitled: of("entitled", consumer.quota),
    limit: limit === null ? null : amount(limit),
  };
}

/** How far a consumer is below the root: 0 for `/Trading`. */
export function depthOf(path: string): number {
  return path.split("/").length - 2;
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

export function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Rows that are shown: none below a closed one; with a text, those whose path has it and all above them. */
export function shownRows(rows: readonly Numbers[], closed: ReadonlySet<string>, text: string): Numbers[] {
  const wanted = text.trim().toLowerCase();
  if (wanted) {
    const kept = new Set<string>();
    for (const row of rows) {
      if (!row.path.toLowerCase().includes(wanted)) continue;
      for (let path = row.path; path !== "/"; path = parentOf(path)) kept.add(path);
    }
    return rows.filter((row) => kept.has(row.path));
  }
  let below = "";
  return rows.filter((row) => {
    if (below && row.path.startsWith(below)) return false;
    below = closed.has(row.path) ? `${row.path}/` : "";
    return true;
  });
}

/** Consumers that are closed at first: of a large tree all but the uppermost are. */
export function closedAtFirst(rows: readonly Numbers[], most = 300): Set<string> {
  if (rows.length <= most) return new Set();
  return new Set(rows.filter((row) => !row.leaf).map((row) => row.path));
}

/** What the widest bar has to hold, of rows at one level. */
export function scaleOf(rows: readonly Numbers[]): number {
  let most = 1;
  for (const row of rows) most = Math.max(most, row.owned, row.allocated, Math.min(row.limit ?? 0, row.owned * 4));
  return most;
}
