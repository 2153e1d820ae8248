import { useMemo } from "preact/hooks";
import { get, type Schemas } from "../api/client";
import { ago, count, several } from "../lib/format";
import { consumerHref, href } from "../lib/route";
import { sorted, type Order } from "../lib/sorting";
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

const ORDERS: Record<string, (job: JobRow) => string | number> = {
  job: (job) => Number(job.job),
  name: (job) => job.name,
  consumer: (job) => job.consumer,
  user: (job) => job.user,
  state: (job) => job.state,
  priority: (job) => job.priority,
  waiting: (job) => job.tasks.waiting,
  submitted: (job) => job.submitted,
};

interface Sorting {
  order: Order;
  isComplete: boolean;
  onSort: (key: string) => void;
}

function head(key: string, text: string, { order, isComplete, onSort }: Sorting) {
  if (!isComplete) return <span title="Narrow the list down to sort it: not all of it is here">{text}</span>;
  const mark = order.key === key ? (order.isDown ? " ↓" : " ↑") : "";
  return (
    <button type="button" class="sort" onClick={() => onSort(key)}>
      {text}
      {mark}
    </button>
  );
}

function columnsOf(sorting: Sorting, isShort: boolean): Column<JobRow>[] {
  const link = (job: JobRow): string => href("jobs", job.job);
  const columns: Column<JobRow>[] = [
    { key: "job", head: head("job", "job", sorting), width: "4.5rem", isNumber: true, cell: (job) => <a href={link(job)}>{job.job}</a> },
    { key: "name", head: head("name", "name", sorting), width: "minmax(6rem, 9rem)", cell: (job) => <a href={link(job)}>{job.name || "–"}</a> },
    { key: "consumer", head: head("consumer", "consumer", sorting), width: "minmax(7rem, 11rem)", isMinor: isShort, cell: (job) => <a href={consumerHref(job.consumer)}>{job.consumer}</a> },
    { key: "user", head: head("user", "user", sorting), width: "6rem", isMinor: true, cell: (job) => job.user },
    { key: "state", head: head("state", "state", sorting), width: "6rem", cell: (job) => <Pill state={job.state} /> },
    { key: "tasks", head: "tasks", width: "5.5rem", isMinor: true, cell: (job) => <Progress tasks={job.tasks} /> },
    { key: "waiting", head: head("waiting", "waits", sorting), width: "4.5rem", isNumber: true, cell: (job) => count(job.tasks.waiting) },
    { key: "priority", head: head("priority", "prio", sorting), width: "4rem", isNumber: true, isMinor: true, cell: (job) => count(job.priority) },
    { key: "submitted", head: head("submitted", "submitted", sorting), width: "7rem", isMinor: true, cell: (job) => ago(job.submitted) },
    { key: "text", head: "why", width: "minmax(8rem, 2fr)", isMinor: true, cell: (job) => <span title={reasonOf(job)}>{reasonOf(job)}</span> },
  ];
  return columns;
}

/** Jobs of a filter. They can be sorted where all of them are here: the order of a part would be that of no list. */
export function JobTable({ filter, isShort = false, order = { key: "", isDown: false }, onSort = () => undefined }: {
  filter: Filter;
  isShort?: boolean;
  order?: Order;
  onSort?: (key: string) => void;
}) {
  const { consumer, state, user, text, all } = filter;
  const keys = [consumer, state, user, text, all];
  const load = async (cursor: string, limit: number, signal: AbortSignal) => {
    const found = await get("/v1/jobs", { consumer, state, user, text, all: all || null, cursor, limit }, signal);
    return { rows: found.jobs, next: found.next };
  };
  const live = usePages(load, (job: JobRow) => job.job, keys, isShort ? 50 : 200);
  const isComplete = live.data !== null && live.data.next === null && !isShort;
  const columns = useMemo(() => columnsOf({ order, isComplete, onSort }, isShort), [order, isComplete, onSort, isShort]);
  return (
    <Shown live={live}>
      {(page) => (
        <Table
          label="Jobs"
          columns={columns}
          rows={isComplete && order.key ? sorted(page.rows, ORDERS[order.key]!, order.isDown) : page.rows}
          rowKey={(job) => job.job}
          {...(isShort ? {} : { onEnd: live.more })}
          {...(page.next ? { total: -2 } : {})}
          empty={<Empty>{page.next ? "Looking further…" : "No job is like this."}</Empty>}
        />
      )}
    </Shown>
  );
}
