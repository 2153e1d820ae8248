import { useState } from "preact/hooks";
import { get } from "../api/client";
import { actionText, instantOf, localOf, targetText, type Entry } from "../lib/audit";
import { serverNow } from "../lib/clock";
import { download } from "../lib/download";
import { clock } from "../lib/format";
import { href, route, setQuery } from "../lib/route";
import { usePages, type PageOf } from "../store/pages";
import { Empty, Shown, Trouble } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { Typed } from "../ui/typed";

const AT_ONCE = 5000;
const FIELDS = ["user", "action", "target", "outcome", "from", "to"] as const;

type Filter = Record<(typeof FIELDS)[number], string>;

function filterOf(query: URLSearchParams): Filter {
  return Object.fromEntries(FIELDS.map((name) => [name, query.get(name) ?? ""])) as Filter;
}

/** Records before a number, the latest first. */
async function page(filter: Filter, before: string, limit: number, signal: AbortSignal): Promise<PageOf<Entry>> {
  const found = await get("/v1/audit", { ...filter, before, limit }, signal);
  return { rows: [...found.records].reverse(), next: found.records.length === limit ? String(found.records[0]!.seq) : null };
}

/** All records of a filter as they are exported by `fairhold audit --all --json`. */
async function exported(filter: Filter): Promise<string> {
  const lines: string[] = [];
  for (let after = 0; ; ) {
    const found = await get("/v1/audit", { ...filter, after, limit: AT_ONCE });
    lines.push(...found.records.map((each) => `${JSON.stringify(each)}\n`));
    if (found.records.length < AT_ONCE) return lines.join("");
    after = found.next;
  }
}

function target(entry: Entry) {
  const text = targetText(entry);
  return /^\d+$/.test(entry.target) ? <a href={href("jobs", entry.target)}>{text}</a> : text;
}

const COLUMNS: Column<Entry>[] = [
  { key: "seq", head: "no.", width: "5rem", isNumber: true, isMinor: true, cell: (entry) => entry.seq },
  { key: "at", head: "when", width: "9.5rem", cell: (entry) => clock(entry.at) },
  { key: "user", head: "who", width: "8rem", cell: (entry) => entry.user || <span class="nil">unknown</span> },
  { key: "action", head: "what", width: "8rem", cell: (entry) => actionText(entry.action) },
  { key: "target", head: "about", width: "minmax(8rem, 1fr)", cell: target },
  {
    key: "outcome",
    head: "outcome",
    width: "9rem",
    cell: (entry) => <span class={entry.outcome === "done" ? "" : "refused"}>{entry.outcome}</span>,
  },
  { key: "origin", head: "from", width: "11rem", isMinor: true, cell: (entry) => entry.origin },
  { key: "via", head: "known by", width: "14rem", isMinor: true, cell: (entry) => entry.via },
];

function Instant({ name, label }: { name: "from" | "to"; label: string }) {
  return (
    <label>
      {label}{" "}
      <input
        type="datetime-local"
        value={localOf(route.value.query.get(name) ?? "")}
        onChange={(event) => setQuery({ [name]: instantOf(event.currentTarget.value) })}
      />
    </label>
  );
}

function Export({ filter }: { filter: Filter }) {
  const [state, setState] = useState<Error | "busy" | null>(null);
  const save = async (): Promise<void> => {
    setState("busy");
    try {
      download(await exported(filter), "audit", new Date(serverNow()).toISOString(), "application/jsonl", "jsonl");
      setState(null);
    } catch (error) {
      setState(error as Error);
    }
  };
  return (
    <>
      <button type="button" disabled={state === "busy"} onClick={() => void save()}>
        Download JSON lines
      </button>
      {state instanceof Error && <Trouble error={state} />}
    </>
  );
}

/** Who did what, from where, and what was refused. */
export function Audit() {
  const { query } = route.value;
  const filter = filterOf(query);
  const keys = Object.values(filter);
  const live = usePages((before, limit, signal) => page(filter, before, limit, signal), (entry) => String(entry.seq), keys);
  return (
    <div class="page whole">
      <h1>Audit</h1>
      <div class="tools">
        <Typed name="user" label="Who" />
        <Typed name="action" label="What" />
        <Typed name="target" label="About" />
        <Typed name="outcome" label="Outcome" />
        <Instant name="from" label="From" />
        <Instant name="to" label="To" />
        <a href={href("audit")}>Clear</a>
        <Export filter={filter} />
      </div>
      <Shown live={live}>
        {({ rows }) => (
          <Table label="Audit" columns={COLUMNS} rows={rows} rowKey={(entry) => String(entry.seq)} onEnd={live.more} empty={<Empty>Nothing like this is on the record.</Empty>} />
        )}
      </Shown>
    </div>
  );
}
