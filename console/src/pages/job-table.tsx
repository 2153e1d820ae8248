import { useEffect, useMemo } from "preact/hooks";
import { get, type Schemas, type Values } from "../api/client";
import { serverNow } from "../lib/clock";
import { ago, clock, count, several } from "../lib/format";
import { consumerHref, href } from "../lib/route";
import type { Order } from "../lib/sorting";
import { useLive } from "../store/live";
import { usePages } from "../store/pages";
import { Empty, Pill, Shown } from "../ui/states";
import { Table, type Column } from "../ui/table";

export type JobRow = Schemas["JobRow"];

export interface Filter {
  consumer?: string;
  state?: string;
  user?: string;
  text?: string;
  all?: boolean;
}

/** How far the tasks of a job are. */
export function Progress({ tasks }: { tasks: Schemas["Counts"] }) {
  const share = (units: number): string => `${(100 * units) / Math.max(1, tasks.tasks)}%`;
  const text = `${count(tasks.done)} of ${several(tasks.tasks, "task")} done, ${count(tasks.running)} running`;
  return (
    <span class="progress" role="img" aria-label={text} title={text}>
      {(["done", "failed", "cancelled", "running"] as const).map((kind) => (
        <i key={kind} class={kind} style={{ width: share(tasks[kind]) }} />
      ))}
    </span>
  );
}

/** What a row says besides its numbers: why it waits, or what was taken from it. */
export function reasonOf(job: JobRow): string {
  if (job.hold !== null) return `held${job.hold ? `: ${job.hold}` : ""}`;
  if (job.text) return job.text;
  if (job.ended) return `ended ${ago(job.ended)}`;
  return job.tasks.reclaimed ? `${several(job.tasks.reclaimed, "attempt")} taken back until now` : "";
}

/** When its next task is expected to start, as far as that is known. */
export function startText(p50: string | null | undefined, now = serverNow()): string {
  if (!p50) return "";
  return Date.parse(p50) > now ? `until about ${clock(p50, now).replace(/:\d\d$/, "")}` : "it may start any moment";
}

interface Sorting {
  order: Order;
  onSort?: ((key: string) => void) | undefined;
}

function head(key: string, text: string, { order, onSort }: Sorting) {
  if (!onSort) return text;
  const mark = order.key === key ? (order.isDown ? " ↓" : " ↑") : "";
  return (
    <button type="button" class="sort" onClick={() => onSort(key)}>
      {text}
      {mark}
    </button>
  );
}

/** Seconds after which starts are asked for again: the service keeps an answer as long. */
const AGAIN = 30;

/** Expected starts by job of the first rows, read beside them: the first answer takes seconds. */
function useStarts(asked: Values, keys: readonly unknown[]): ReadonlyMap<string, string> {
  const load = (signal: AbortSignal) => get("/v1/jobs", { ...asked, expected: true, limit: 100 }, signal);
  const { data, refresh } = useLive(load, keys, () => false);
  useEffect(() => {
    const timer = setInterval(refresh, AGAIN * 1000);
    return () => clearInterval(timer);
  }, [refresh]);
  return useMemo(() => {
    const told = (data?.jobs ?? []).flatMap((job) => (job.expected?.p50 ? [[job.job, job.expected.p50] as const] : []));
    return new Map(told);
  }, [data]);
}

function columnsOf(sorting: Sorting, isShort: boolean, starts: ReadonlyMap<string, string>): Column<JobRow>[] {
  const link = (job: JobRow): string => href("jobs", job.job);
  const columns: Column<JobRow>[] = [
    { key: "job", head: head("job", "job", sorting), width: "4.5rem", isNumber: true, cell: (job) => <a href={link(job)}>{job.job}</a> },
    { key: "name", head: head("name", "name", sorting), width: "minmax(6rem, 9rem)", cell: (job) => <a href={link(job)}>{job.name || "–"}</a> },
    { key: "consumer", head: head("consumer", "consumer", sorting), width: "minmax(7rem, 11rem)", isMinor: isShort, cell: (job) => <a href={consumerHref(job.consumer)}>{job.consumer}</a> },
    { key: "user", head: head("user", "user", sorting), width: "6rem", isMinor: true, cell: (job) => job.user },
    { key: "state", head: head("state", "state", sorting), width: "6rem", cell: (job) => <Pill state={job.state} /> },
    { key: "tasks", head: head("tasks", "tasks", sorting), width: "5.5rem", isMinor: true, cell: (job) => <Progress tasks={job.tasks} /> },
    { key: "running", head: head("running", "runs", sorting), width: "4rem", isNumber: true, isMinor: true, cell: (job) => count(job.tasks.running) },
    { key: "waiting", head: head("waiting", "waits", sorting), width: "4.5rem", isNumber: true, cell: (job) => count(job.tasks.waiting) },
    { key: "priority", head: head("priority", "prio", sorting), width: "4rem", isNumber: true, isMinor: true, cell: (job) => count(job.priority) },
    { key: "submitted", head: head("submitted", "submitted", sorting), width: "7rem", isMinor: true, cell: (job) => ago(job.submitted) },
    { key: "text", head: "why", width: "minmax(8rem, 2fr)", isMinor: true, cell: (job) => <Reason job={job} start={starts.get(job.job)} /> },
  ];
  return columns;
}

function Reason({ job, start }: { job: JobRow; start: string | undefined }) {
  const text = [startText(start), reasonOf(job)].filter(Boolean).join(": ");
  return <span title={text}>{text}</span>;
}

const UNSORTED: Order = { key: "", isDown: false };

/** Jobs of a filter, in an order that the API makes over all of them. */
export function JobTable({ filter, isShort = false, order = UNSORTED, onSort }: {
  filter: Filter;
  isShort?: boolean;
  order?: Order;
  onSort?: (key: string) => void;
}) {
  const { consumer, state, user, text, all } = filter;
  const sort = order.key && `${order.isDown ? "-" : ""}${order.key}`;
  const keys = [consumer, state, user, text, all, sort];
  const asked = { consumer, state, user, text, sort, all: all || null };
  const load = async (cursor: string, limit: number, signal: AbortSignal) => {
    const found = await get("/v1/jobs", { ...asked, cursor, limit }, signal);
    return { rows: found.jobs, next: found.next };
  };
  const live = usePages(load, (job: JobRow) => job.job, keys, isShort ? 50 : 200);
  const starts = useStarts(asked, keys);
  const columns = useMemo(() => columnsOf({ order, onSort }, isShort, starts), [sort, onSort, isShort, starts]);
  return (
    <Shown live={live}>
      {(page) => (
        <Table
          label="Jobs"
          columns={columns}
          rows={page.rows}
          rowKey={(job) => job.job}
          {...(isShort ? {} : { onEnd: live.more })}
          {...(page.next ? { total: -2 } : {})}
          empty={<Empty>{page.next ? "Looking further…" : "No job is like this."}</Empty>}
        />
      )}
    </Shown>
  );
}
