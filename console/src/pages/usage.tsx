import { useMemo } from "preact/hooks";
import { get, type Schemas } from "../api/client";
import { serverNow } from "../lib/clock";
import { download } from "../lib/download";
import { clock, csv } from "../lib/format";
import { consumerHref, href, route, setQuery } from "../lib/route";
import { sumsOf, usageCsv, type Sum } from "../lib/usage";
import { useLive } from "../store/live";
import { Empty, Shown } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { Typed } from "../ui/typed";

const SPANS: [string, string, number][] = [
  ["1h", "the last hour", 3600],
  ["1d", "the last day", 86400],
  ["1w", "the last week", 604800],
  ["4w", "the last four weeks", 2419200],
  ["all", "all that is kept", 0],
];
const BY = ["consumer", "user", "job", "label"];

function columnsOf(by: string, most: number, currency: string): Column<Sum>[] {
  const hours = (key: "own" | "borrowed" | "lent" | "lost", head: string): Column<Sum> => ({
    key,
    head,
    width: "7rem",
    isNumber: true,
    isMinor: key === "lost" || key === "lent",
    cell: (row) => (row[key] ? row[key].toFixed(2) : <span class="nil">0.00</span>),
  });
  const name = (row: Sum) => {
    if (by === "consumer") return <a href={consumerHref(row.name)}>{row.name}</a>;
    if (!row.name) return <span class="nil">nobody</span>;
    if (by.startsWith("label:")) return row.name;
    return <a href={by === "job" ? href("jobs", row.name) : href("jobs", "", { user: row.name, all: "1" })}>{row.name}</a>;
  };
  return [
    { key: "name", head: by.replace("label:", ""), width: "minmax(9rem, 18rem)", cell: name },
    { key: "resource", head: "resource", width: "7rem", isMinor: true, cell: (row) => row.resource || "unknown" },
    {
      key: "bar",
      head: <span class="visually-hidden">as a bar</span>,
      width: "minmax(8rem, 1fr)",
      cell: (row) => (
        <div class="bar" aria-hidden="true">
          <span class="part own" style={{ width: `${(100 * row.own) / most}%` }} />
          <span class="part borrowed" style={{ width: `${(100 * row.borrowed) / most}%` }} />
        </div>
      ),
    },
    { key: "held", head: "held, hours", width: "7rem", isNumber: true, cell: (row) => (row.own + row.borrowed).toFixed(2) },
    hours("own", "own"),
    hours("borrowed", "borrowed"),
    hours("lent", "lent out"),
    hours("lost", "work lost"),
    ...(currency ? [{ key: "cost", head: `cost, ${currency}`, width: "7rem", isNumber: true, cell: (row: Sum) => (row.cost === null ? "–" : row.cost.toFixed(2)) }] : []),
  ];
}

function Rows({ usage, by }: { usage: Schemas["Usage"]; by: string }) {
  const rows = useMemo(() => sumsOf(usage, by), [usage, by]);
  const most = Math.max(1e-9, ...rows.slice(0, 1000).map((row) => row.own + row.borrowed));
  const currency = usage.currency ?? "";
  const columns = useMemo(() => columnsOf(by, most, currency), [by, most, currency]);
  return (
    <>
      <p class="under">
        From {rows.length ? clock(usage.from) : "–"} to {clock(usage.to)}, exact.{" "}
        {currency && usage.cost && `In all ${Number(usage.cost).toFixed(2)} ${currency}. `}
        <button type="button" onClick={() => download(csv(usageCsv(usage)), "usage", usage.to, "text/csv", "csv")}>
          Download CSV
        </button>
      </p>
      <Table label={`Usage by ${by}`} columns={columns} rows={rows} rowKey={(row) => `${row.name} ${row.resource}`} empty={<Empty>Nothing was used.</Empty>} />
    </>
  );
}

/** Hours that were used, exactly. */
export function Usage() {
  const { query } = route.value;
  const chosen = BY.find((each) => each === query.get("by")) ?? "consumer";
  const label = query.get("label") ?? "";
  const by = chosen === "label" ? `label:${label}` : chosen;
  const [span, , seconds] = SPANS.find(([each]) => each === query.get("span")) ?? SPANS[1]!;
  const consumer = query.get("consumer") ?? "";
  const live = useLive(
    (signal) => {
      const from = seconds ? new Date(serverNow() - seconds * 1000).toISOString() : "";
      return get("/v1/usage", { by: by === "label:" ? "kind" : `${by},kind`, from, consumer }, signal);
    },
    [by, seconds, consumer],
    (told) => told.kind === "UsageSpan",
  );
  return (
    <div class="page whole">
      <h1>Usage</h1>
      <div class="tools">
        <label>
          By{" "}
          <select value={chosen} onChange={(event) => setQuery({ by: event.currentTarget.value })}>
            {BY.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {chosen === "label" && <Typed name="label" label="Its name" />}
        <label>
          In{" "}
          <select value={span} onChange={(event) => setQuery({ span: event.currentTarget.value })}>
            {SPANS.map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          Consumer <input type="search" value={consumer} onChange={(event) => setQuery({ consumer: event.currentTarget.value })} />
        </label>
        <button type="button" onClick={live.refresh}>
          Count again
        </button>
      </div>
      {by === "label:" ? <Empty>Name the label by whose values hours are summed.</Empty> : <Shown live={live}>{(usage) => <Rows usage={usage} by={by} />}</Shown>}
    </div>
  );
}
