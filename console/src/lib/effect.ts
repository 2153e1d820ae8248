/** What the API says of two plans, as the page needs it. */
export type Pair = [number | null, number | null];

export interface Row {
  owned?: Pair;
  limit?: Pair;
  quota?: Pair;
  allocated?: number;
}

export interface GroupDiff {
  consumers?: Record<string, Row>;
}

interface Stop {
  consumer: string;
  units: number;
  for: string | null;
  anyway?: number;
  deadline?: string;
}

export interface DiffDocument {
  summary: { values: number };
  resource_groups: Record<string, GroupDiff>;
  reclaims: { added: Stop[]; removed: Stop[] };
  over_time?: {
    alone?: { units: number; by: string | null; lost: Record<string, string | number> };
    waits?: Record<string, unknown>;
    stops?: Stop[];
    until?: string;
  };
  windows?: { now?: string; resource_groups?: Record<string, GroupDiff> }[];
}

function change(pair: Pair | undefined): number {
  return pair ? (pair[1] ?? Infinity) - (pair[0] ?? Infinity) || 0 : 0;
}

/** Consumers of whom anything differs, who loses most first. */
export function gains(group: GroupDiff): [string, Row][] {
  return Object.entries(group.consumers ?? {})
    .filter(([path]) => path !== "/")
    .sort(([, a], [, b]) => change(a.quota) - change(b.quota) || change(a.owned) - change(b.owned));
}

/** What the new plan alone stops by when: an instant, how much by then of whom and for whom; the first come first. */
export function stopTimes(diff: DiffDocument): { at: number; units: number; text: string }[] {
  const found = new Map<number, { at: number; units: number; parts: string[] }>();
  for (const each of diff.over_time?.stops ?? []) {
    const units = each.units - (each.anyway ?? 0);
    if (units <= 0 || !each.deadline) continue;
    const at = Date.parse(each.deadline);
    const sum = found.get(at) ?? { at, units: 0, parts: [] };
    sum.units += units;
    sum.parts.push(`${units} of ${each.consumer}${each.for ? ` for ${each.for}` : ""}`);
    found.set(at, sum);
  }
  return [...found.values()].sort((a, b) => a.at - b.at).map(({ at, units, parts }) => ({ at, units, text: parts.join(", ") }));
}

/** By consumer, what is stopped only because of the new plan, and for whom; of the notices where no time was looked at. */
export function stopsOf(diff: DiffDocument): { consumer: string; units: number; for: string[] }[] {
  const rows = diff.over_time?.stops ?? diff.reclaims.added;
  const found = new Map<string, { consumer: string; units: number; for: string[] }>();
  for (const row of rows) {
    const units = row.units - (row.anyway ?? 0);
    if (units <= 0) continue;
    const sum = found.get(row.consumer) ?? { consumer: row.consumer, units: 0, for: [] };
    sum.units += units;
    if (row.for && !sum.for.includes(row.for)) sum.for.push(row.for);
    found.set(row.consumer, sum);
  }
  return [...found.values()].sort((a, b) => b.units - a.units);
}
