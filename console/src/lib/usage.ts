/** Usage as hours by name, of each resource. */
import type { Schemas } from "../api/client";

export interface Sum {
  name: string;
  resource: string;
  own: number;
  borrowed: number;
  lent: number;
  lost: number;
  /** By the prices of the plan; null: it has none for this. */
  cost: number | null;
}

/** Hours by name and resource, who held most first. */
export function sumsOf(usage: Schemas["Usage"], by: string): Sum[] {
  const found = new Map<string, Sum>();
  for (const row of usage.rows) {
    const [name, resource] = [row[by] ?? "", row.resource ?? ""];
    const key = `${resource} ${name}`;
    const sum = found.get(key) ?? { name, resource, own: 0, borrowed: 0, lent: 0, lost: 0, cost: null };
    if (row.cost !== null && row.cost !== undefined) sum.cost = (sum.cost ?? 0) + Number(row.cost);
    const kind = row.kind as "own" | "borrowed" | "lent" | "lost";
    sum[kind] += Number(row.resource_seconds) / 3600;
    found.set(key, sum);
  }
  return [...found.values()].sort((a, b) => b.own + b.borrowed - a.own - a.borrowed || (a.name < b.name ? -1 : 1));
}

/** Rows of a CSV file: exact numbers as the API says them, in seconds. */
export function usageCsv(usage: Schemas["Usage"]): string[][] {
  const names = [...usage.by, "resource", "unit", "resource_seconds", ...(usage.currency ? ["cost"] : [])];
  return [[...names, "from", "to"], ...usage.rows.map((row) => [...names.map((name) => row[name] ?? ""), usage.from, usage.to])];
}
