/** Who stands where. */
import type { Schemas } from "../api/client";

type Allocation = Schemas["Allocation"];

export interface Standing {
  attempt: number;
  job: string;
  task: number;
  consumer: string;
  /** The department: the uppermost consumer above it. */
  branch: string;
  units: number;
  deadline: string | null;
  for: string | null;
}

export function branchOf(consumer: string): string {
  return consumer.split("/")[1] ?? "";
}

/** What stands on each host, those of one consumer side by side; a host without a name is the service's own. */
export function byHost(allocations: readonly Allocation[]): Map<string, Standing[]> {
  const found = new Map<string, Standing[]>();
  for (const each of allocations) {
    const { attempt, job, task, consumer, units, deadline } = each;
    const standing = { attempt, job, task, consumer, branch: branchOf(consumer), units, deadline, for: each.for };
    const host = each.host || "-";
    const there = found.get(host);
    if (there) there.push(standing);
    else found.set(host, [standing]);
  }
  for (const there of found.values()) {
    there.sort((a, b) => (a.consumer < b.consumer ? -1 : a.consumer > b.consumer ? 1 : a.attempt - b.attempt));
  }
  return found;
}

/** Okabe and Ito: told apart also by those who see few colours. */
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#7a7f87"];

/** A colour for each department; the last one is for all that are left. */
export function coloursOf(allocations: readonly Allocation[]): Map<string, string> {
  const branches = [...new Set(allocations.map((each) => branchOf(each.consumer)))].sort();
  return new Map(branches.map((branch, at) => [branch, COLOURS[Math.min(at, COLOURS.length - 1)]!]));
}
