/** Entries of the log in words; of a kind without words its fields are shown. */
export interface Entry {
  seq: number;
  at: string;
  kind: string;
  [field: string]: unknown;
}

type Words = (entry: Entry) => string;

const job: Words = (entry) => `job ${String(entry.job)}`;
const attempt: Words = (entry) => `attempt ${String(entry.attempt)}`;

const WORDS: Record<string, Words> = {
  PlanApplied: (entry) => `plan ${String(entry.version)} is in force`,
  JobAdded: (entry) => `${job(entry)} of ${String(entry.user)} for ${String(entry.consumer)}: ${String(entry.tasks)} tasks`,
  CycleRan: (entry) => `cycle ${String(entry.number)} of ${String(entry.resource_group)}, because of ${String(entry.cause)}`,
  Started: (entry) => `${attempt(entry)}: task ${String(entry.task)} of ${job(entry)}`,
  Running: (entry) => `${attempt(entry)} runs`,
  Noticed: (entry) => `${attempt(entry)} gets notice${entry.taker ? ` for ${String(entry.taker)}` : ""}: ${String(entry.reason)}`,
  Withdrawn: (entry) => `the notice of ${attempt(entry)} is withdrawn`,
  Stopping: (entry) => `${attempt(entry)} is stopped: ${String(entry.reason)}`,
  Ended: (entry) => `${attempt(entry)} has ended: ${String(entry.then)}${entry.reason ? `, ${String(entry.reason)}` : ""}`,
  JobEnded: (entry) => `${job(entry)} is over`,
};

const HEAD = new Set(["seq", "at", "kind"]);

export function eventText(entry: Entry): string {
  const words = WORDS[entry.kind];
  if (words) return words(entry);
  return Object.entries(entry)
    .filter(([name, value]) => !HEAD.has(name) && value !== null && value !== "")
    .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
    .join(", ");
}
