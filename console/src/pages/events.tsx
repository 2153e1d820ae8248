import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api/client";
import { eventText, type Entry } from "../lib/events";
import { clock } from "../lib/format";
import { href, route, setQuery } from "../lib/route";
import { hear } from "../store/link";
import { Empty, Trouble } from "../ui/states";
import { Table, type Column } from "../ui/table";

const KEPT = 5000;
const AT_FIRST = 500;

/** The latest entries of the log, the newest first; new ones come in front. */
function useEvents(): { entries: Entry[]; error: Error | null } {
  const [entries, setEntries] = useState<Entry[]>([]);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    let last = 0;
    const take = (found: readonly Entry[]): void => {
      const fresh = found.filter((entry) => entry.seq > last);
      if (!fresh.length) return;
      last = fresh.at(-1)!.seq;
      setEntries((was) => [...fresh.reverse(), ...was].slice(0, KEPT));
    };
    const begin = async (): Promise<void> => {
      const health = await get("/v1/health", {}, stop.signal);
      const after = Math.max(last, health.entries - AT_FIRST, 0);
      const page = await get("/v1/events", { after, limit: 5000 }, stop.signal);
      take(page.events as unknown as Entry[]);
      setError(null);
    };
    const again = (): void => {
      begin().catch((found: Error) => !stop.signal.aborted && setError(found));
    };
    again();
    const leave = hear((told) => {
      if (told.length === 0) again();
      else if (last > 0) take(told.map((each) => JSON.parse(each.data) as Entry));
    });
    return () => {
      stop.abort();
      leave();
    };
  }, []);
  return { entries, error };
}

const COLUMNS: Column<Entry>[] = [
  { key: "seq", head: "no.", width: "5rem", isNumber: true, isMinor: true, cell: (entry) => entry.seq },
  { key: "at", head: "when", width: "9.5rem", cell: (entry) => clock(entry.at) },
  { key: "kind", head: "kind", width: "10rem", cell: (entry) => entry.kind },
  {
    key: "text",
    head: "what",
    width: "minmax(10rem, 1fr)",
    cell: (entry) => {
      const text = eventText(entry);
      const job = typeof entry.job === "string" ? entry.job : "";
      return job ? <a href={href("jobs", job)}>{text}</a> : text;
    },
  },
];

/** What happened, as it happens. */
export function Events() {
  const { entries, error } = useEvents();
  const { query } = route.value;
  const [kind, text] = [query.get("kind") ?? "", (query.get("find") ?? "").toLowerCase()];
  const kinds = useMemo(() => [...new Set(entries.map((entry) => entry.kind))].sort(), [entries]);
  const shown = useMemo(
    () =>
      entries.filter(
        (entry) => (!kind || entry.kind === kind) && (!text || JSON.stringify(entry).toLowerCase().includes(text)),
      ),
    [entries, kind, text],
  );
  return (
    <div class="page whole">
      <h1>Events</h1>
      <div class="tools">
        <label>
          Find <input type="search" value={query.get("find") ?? ""} onInput={(event) => setQuery({ find: event.currentTarget.value })} />
        </label>
        <label>
          Kind{" "}
          <select value={kind} onChange={(event) => setQuery({ kind: event.currentTarget.value })}>
            <option value="">any</option>
            {kinds.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      {error && <Trouble error={error} />}
      <Table label="Events" columns={COLUMNS} rows={shown} rowKey={(entry) => String(entry.seq)} empty={<Empty>Nothing like this has happened lately.</Empty>} />
    </div>
  );
}
