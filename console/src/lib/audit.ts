/** Records of what was done, in words. */
import type { Schemas } from "../api/client";

export type Entry = Schemas["Record"];

/** `submit_job` as `submit job`; of who was not let in there is no action. */
export function actionText(action: string): string {
  return action ? action.replaceAll("_", " ") : "ask";
}

/** What a record is about, with what else it says. */
export function targetText(entry: Entry): string {
  const more = Object.entries(entry.detail).map(([name, value]) => `${name}: ${String(value)}`);
  return [entry.target, ...more].filter(Boolean).join(", ");
}

/** What a field for a time says, on the reader's clock → an instant; empty where it says none. */
export function instantOf(local: string): string {
  const at = Date.parse(local);
  return Number.isNaN(at) ? "" : new Date(at).toISOString();
}

/** The same the other way round: addresses hold instants, as a colleague may be in another zone. */
export function localOf(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
