/** All consumers of the cluster: read once, and then what differs. */
import { get, type Schemas } from "../api/client";

export type Groups = Schemas["Consumers"]["resource_groups"];

interface Seen {
  version: number;
  groups: Groups;
}

let seen: Seen | null = null;

/** What was seen with what differs from it in its place; rows that are the same stay the same objects. */
export function patched(before: Groups, told: Groups): Groups {
  const found: Groups = {};
  for (const [name, group] of Object.entries(told)) {
    const others = new Map(group.consumers.map((each) => [each.path, each]));
    const rows = before[name]?.consumers ?? [];
    found[name] = { ...group, consumers: others.size ? rows.map((row) => others.get(row.path) ?? row) : rows };
  }
  return found;
}

/** Whether an event can make a number of a consumer another one: what a cycle did is told by other events. */
export function isOfNumbers(told: { kind: string }): boolean {
  return told.kind !== "CycleRan";
}

export async function readConsumers(signal: AbortSignal): Promise<Groups> {
  const before = seen;
  const told = await get("/v1/consumers", { since: before?.version ?? 0 }, signal);
  const isPart = before !== null && told.since === before.version;
  const groups = isPart ? patched(before.groups, told.resource_groups) : told.resource_groups;
  seen = told.version === null ? null : { version: told.version, groups };
  return groups;
}
