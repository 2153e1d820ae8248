/** A record that was played as it was and under another plan, as the page needs it. */
import type { Schemas } from "../api/client";
import type { Series } from "../ui/chart";
import { count, duration } from "./format";

export type Simulated = Schemas["Simulated"];
export type Resource = Schemas["SimulatedResource"];
type Outcome = Schemas["Outcome"];
type Numbers = Schemas["Numbers"];

/** How far back: seconds, 0 = as far as the log reaches. */
export const SPANS: readonly [string, string, number][] = [
  ["1h", "the last hour", 3600],
  ["1d", "the last day", 86400],
  ["1w", "the last week", 604800],
  ["4w", "the last four weeks", 2419200],
  ["all", "all that is kept", 0],
];

type Key = keyof Numbers;

/** Numbers that are shown of each consumer; `isBad`: more of it is worse. */
export const COLUMNS: readonly { key: Key; head: string; kind: "count" | "time" | "hours"; isBad?: boolean }[] = [
  { key: "finished", head: "tasks done", kind: "count" },
  { key: "wait_mean", head: "wait, mean", kind: "time", isBad: true },
  { key: "wait_p95", head: "wait, p95", kind: "time", isBad: true },
  { key: "used", head: "used, h", kind: "hours" },
  { key: "borrowed", head: "borrowed, h", kind: "hours" },
  { key: "deficit", head: "deficit, h", kind: "hours", isBad: true },
  { key: "lost", head: "lost, h", kind: "hours", isBad: true },
];

export function numberText(kind: "count" | "time" | "hours", value: number): string {
  return kind === "time" ? duration(value) : count(kind === "hours" ? Math.round(value * 100) / 100 : value);
}

export interface Cell {
  before: string;
  after: string;
  /** Whether it came out better or worse, where that can be said. */
  how: "more" | "less" | "";
}

/** A number of a consumer under both plans; null where it is the same, as it is read. */
export function cellOf(row: Schemas["NumbersOfConsumer"], column: (typeof COLUMNS)[number]): Cell {
  const text = (numbers: Numbers | null): string => (numbers ? numberText(column.kind, numbers[column.key]) : "–");
  const [before, after] = [text(row.before), text(row.after)];
  if (before === after || !row.before || !row.after) return { before, after, how: "" };
  const isMore = row.after[column.key] > row.before[column.key];
  return { before, after, how: isMore === Boolean(column.isBad) ? "less" : "more" };
}

/** Consumers in the order of their paths, those alone of which something differs where that is asked for. */
export function rowsOf(resource: Resource, onlyChanged: boolean): Schemas["NumbersOfConsumer"][] {
  const differs = (row: Schemas["NumbersOfConsumer"]): boolean =>
    COLUMNS.some((column) => {
      const { before, after } = cellOf(row, column);
      return before !== after;
    });
  return onlyChanged ? resource.consumers.filter(differs) : resource.consumers;
}

export interface Course {
  times: number[];
  areas: Series[];
  lines: Series[];
}

/** What one part of the first level had over time, or all of them together where it is not named. */
export function courseOf(outcome: Outcome, consumer: string): Course {
  const { from, step, consumers } = outcome.over_time;
  const parts = consumers.filter((each) => !consumer || each.consumer === consumer);
  const length = consumers[0]?.own.length ?? 0;
  const sum = (key: "own" | "borrowed" | "waiting"): number[] =>
    Array.from({ length }, (_, at) => parts.reduce((all, each) => all + (each[key][at] ?? 0), 0));
  const begin = Date.parse(from) / 1000;
  return {
    times: Array.from({ length }, (_, at) => begin + at * step),
    areas: [
      { name: "own", colour: "--own", values: sum("own") },
      { name: "borrowed", colour: "--borrowed", values: sum("borrowed") },
    ],
    lines: [{ name: "waiting", colour: "--notice", values: sum("waiting"), isLine: true }],
  };
}

/** What was played, in a sentence. */
export function recordText(found: Simulated): string {
  const { record, as_recorded: twin, otherwise } = found;
  const said = [`${count(record.jobs)} jobs came, ${count(record.ends)} attempts ended`];
  if (twin) said.push(twin.is_same ? `played as it was, all ${count(twin.lines)} decisions came out the same` : "played as it was, not all came out the same");
  if (otherwise?.guessed) said.push(`of ${count(otherwise.guessed)} tasks it is not known how long they run, and they were taken to run as long as is usual`);
  if (otherwise?.passed_over) said.push(`${count(otherwise.passed_over)} wishes and reports mean nothing under the other plan`);
  return `${said.join("; ")}.`;
}
