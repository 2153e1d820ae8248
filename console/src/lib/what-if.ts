/** Changes of the plan's numbers, and of what is wanted, as the API takes them: `/Trading:owned=8`. */
import type { Schemas } from "../api/client";

export interface Knob {
  /** As a change is called: consumer or group, and key. */
  where: string;
  key: string;
  value: number;
  most: number;
  /** The plan says nothing of it: `value` is as good as that. */
  isUnset?: boolean;
}

/** Numbers that a slider can set for a consumer, with what they are now. */
export function knobsOf(content: Schemas["Explorable"], path: string): Knob[] {
  const consumer = content.consumers.find((each) => each.path === path);
  if (!consumer) return [];
  const size = Math.max(8, ...Object.values(content.groups).map((group) => Number(group.slots) || 0));
  const stated: Record<string, unknown> = Object.assign({}, ...[...consumer.stated].reverse());
  const sharesSlots = Object.values(content.groups).some((group) => "slots" in group);
  const keys = new Set(sharesSlots ? content.entries.flatMap((entry) => entry.keys) : []);
  const found: Knob[] = [];
  for (const key of ["owned", "limit", "reserved"]) {
    if (!keys.has(key) && !(key in stated)) continue;
    const value = Number(stated[key] ?? (key === "limit" ? size : 0));
    if (!Number.isFinite(value)) continue;
    found.push({ where: path, key, value, most: Math.max(size, value * 2), isUnset: !(key in stated) });
  }
  for (const [key, value] of Object.entries(stated)) {
    if (typeof value === "number" && key.includes(".")) found.push({ where: path, key, value, most: Math.max(8, value * 4) });
  }
  for (const [key, value] of Object.entries(consumer.demand)) {
    const now = Number(value);
    if (Number.isFinite(now)) found.push({ where: path, key, value: now, most: Math.max(size, now * 2) });
  }
  return found;
}

export function changeText(knob: Knob, value: number): string {
  return `${knob.where}:${knob.key}=${value}`;
}

/** Changes with one more; a later one of the same number takes the place of the earlier. */
export function withChange(changes: readonly string[], knob: Knob, value: number): string[] {
  const head = `${knob.where}:${knob.key}=`;
  const others = changes.filter((each) => !each.startsWith(head));
  return value === knob.value ? others : [...others, changeText(knob, value)];
}

/** What a number is with the changes. */
export function valueOf(changes: readonly string[], knob: Knob): number {
  const head = `${knob.where}:${knob.key}=`;
  const found = changes.find((each) => each.startsWith(head));
  return found === undefined ? knob.value : Number(found.slice(head.length));
}

/** Lines of an address as changes. */
export function changesOf(text: string | null): string[] {
  return (text ?? "").split("\n").filter(Boolean);
}
