/** Numbers, times and durations as people read them. */
import { serverNow } from "./clock";

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** An exact amount of the API, a number or a fraction in a text, as a number. */
export function amount(value: number | string | null | undefined): number {
  if (value === null || value === undefined) return 0;
  if (typeof value === "number") return value;
  const [over, under] = value.split("/");
  return under === undefined ? Number(over) : Number(over) / Number(under);
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : GROUPED.format(value);
}

/** `1 slot`, `2 slots`. */
export function several(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Seconds as `45 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: [number, string][] = [
    [Math.floor(whole / 86400), "d"],
    [Math.floor(whole / 3600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "min"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

/** How long ago an instant was, or how long it is until then. */
export function ago(instant: string, now = serverNow()): string {
  const seconds = (now - Date.parse(instant)) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  return seconds >= 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`;
}

/** An instant on the reader's clock: with the date unless it is today. */
export function clock(instant: string | number, now = serverNow()): string {
  const at = new Date(instant);
  const time = at.toLocaleTimeString("en-GB");
  if (at.toDateString() === new Date(now).toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** An instant on the reader's clock where a clock of another zone shows `local`, as `2026-01-05T18:00:00+01:00`; empty where both show the same. */
export function hereText(instant: string, local: string): string {
  const there = Date.parse(`${local.slice(0, 19)}Z`) - Date.parse(instant);
  return there === -new Date(instant).getTimezoneOffset() * 60_000 ? "" : `${clock(instant)} on your clock`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** Rows as CSV by RFC 4180. Text that a table program would take for a formula is kept from being one. */
export function csv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

function cell(value: string | number): string {
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
