/** Usage in parts of the time as means over each of them. */
import type { Schemas } from "../api/client";
import type { Series } from "../ui/chart";

export interface Range {
  name: string;
  text: string;
  /** Seconds in all, and of each part. */
  span: number;
  step: number;
  stepText: string;
}

export const RANGES: readonly Range[] = [
  { name: "10min", text: "10 minutes", span: 600, step: 10, stepText: "10 s" },
  { name: "1h", text: "1 hour", span: 3600, step: 60, stepText: "minute" },
  { name: "1d", text: "1 day", span: 86400, step: 900, stepText: "quarter of an hour" },
  { name: "1w", text: "1 week", span: 604800, step: 3600, stepText: "hour" },
  { name: "4w", text: "4 weeks", span: 2419200, step: 14400, stepText: "4 hours" },
  { name: "90d", text: "90 days", span: 7776000, step: 43200, stepText: "half day" },
];

export interface Past {
  times: number[];
  areas: Series[];
  lines: Series[];
}

/** Means of what was used, by kind, in parts of `step` seconds; the last one is as long as it has been until now. */
export function historyOf(usage: Schemas["Usage"], from: number, to: number, step: number): Past {
  const parts = Math.max(1, Math.ceil((to - from) / step));
  const times = Array.from({ length: parts }, (_, at) => from + at * step);
  const sums: Record<string, number[]> = { own: [], borrowed: [], lent: [] };
  for (const values of Object.values(sums)) values.push(...times.map(() => 0));
  for (const row of usage.rows) {
    const begin = Date.parse(row.from ?? "") / 1000;
    const length = Date.parse(row.to ?? "") / 1000 - begin;
    const at = Math.floor((begin - from) / step + 1e-6);
    const values = sums[row.kind ?? ""];
    if (!values || at < 0 || at >= parts || length <= 0) continue;
    values[at] = values[at]! + Number(row.resource_seconds) / Math.min(length, step);
  }
  const series = (kind: string, name: string): Series => ({ name, colour: `--${kind}`, values: sums[kind]! });
  return {
    times,
    areas: [series("own", "own"), series("borrowed", "borrowed")],
    lines: [{ ...series("lent", "lent out"), isLine: true }],
  };
}
