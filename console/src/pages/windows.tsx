import { get, type Schemas } from "../api/client";
import { ago, clock, count, hereText } from "../lib/format";
import { consumerHref, route, setQuery } from "../lib/route";
import { useLive } from "../store/live";
import { Empty, Panel, Rest, Shown } from "../ui/states";

interface Entry {
  entry: number;
  policy: string;
  window: string | null;
}

interface Switch {
  at: string;
  local: string;
  day: string;
  opens?: string;
  resource_group: string;
  from: Entry[];
  to: Entry[];
  consumers: Record<string, Record<string, [unknown, unknown]>>;
  reclaims?: { consumer: string; units: number; for?: string | null }[];
}

const SPANS = ["1d", "7d", "28d"];

function entryText(entries: readonly Entry[]): string {
  return entries.map((each) => each.window || "the rest of the time").join(" and ");
}

function value(found: unknown): string {
  if (found === null || found === undefined) return "none";
  return typeof found === "object" ? JSON.stringify(found) : String(found);
}

function Changes({ row }: { row: Switch }) {
  const consumers = Object.entries(row.consumers ?? {});
  if (!consumers.length) return <span class="nil">no number changes</span>;
  return (
    <>
      {consumers.slice(0, 12).map(([path, keys]) => (
        <div key={path}>
          <a href={consumerHref(path)}>{path}</a>{" "}
          {Object.entries(keys)
            .map(([key, pair]) => `${key} ${Array.isArray(pair) ? pair.map(value).join(" → ") : value(pair)}`)
            .join(", ")}
        </div>
      ))}
      <Rest all={consumers.length} shown={12} />
    </>
  );
}

function Reclaims({ row }: { row: Switch }) {
  if (!row.reclaims?.length) return <span class="nil">nothing</span>;
  return (
    <>
      {row.reclaims.slice(0, 8).map((each, at) => (
        <div key={at}>
          {count(each.units)} of {each.consumer}
          {each.for && ` for ${each.for}`}
        </div>
      ))}
      <Rest all={row.reclaims.length} shown={8} />
    </>
  );
}

function Calendar({ found }: { found: Schemas["Windows"] }) {
  const switches = found.switches as unknown as Switch[];
  const inForce = Object.entries(found.in_force) as unknown as [string, Entry[]][];
  return (
    <>
      <Panel title="In force now" side={<small>times of {found.time_zone}</small>}>
        <table class="plain">
          <tbody>
            {inForce.map(([group, entries]) => (
              <tr key={group}>
                <td>{group}</td>
                <td>{entries.map((each) => `${each.policy}, ${each.window || "whenever no other is"}`).join(" and ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
      <Panel title="Coming switches">
        {switches.length === 0 && <Empty>The plan has no window that opens or closes in this time.</Empty>}
        {switches.length > 0 && (
          <table class="plain">
            <thead>
              <tr>
                <th>when</th>
                <th>group</th>
                <th>then holds</th>
                <th>what changes</th>
                <th>takes back, if demand stays</th>
              </tr>
            </thead>
            <tbody>
              {switches.slice(0, 200).map((row) => (
                <tr key={`${row.at} ${row.resource_group}`}>
                  <td>
                    {row.day} {row.local.slice(0, 16).replace("T", " ")}
                    <br />
                    <small>
                      {[hereText(row.at, row.local), ago(row.at)].filter(Boolean).join(", ")}
                      {row.opens && `, the window opens ${clock(row.opens)}`}
                    </small>
                  </td>
                  <td>{row.resource_group}</td>
                  <td>{entryText(row.to)}</td>
                  <td>
                    <Changes row={row} />
                  </td>
                  <td>
                    <Reclaims row={row} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <Rest all={switches.length} shown={200} />
      </Panel>
    </>
  );
}

/** When other parts of the plan hold, and what that takes from whom. */
export function Windows() {
  const span = SPANS.find((each) => each === route.value.query.get("next")) ?? "7d";
  const live = useLive(
    (signal) => get("/v1/windows", { next: span, reclaims: true }, signal),
    [span],
    (told) => told.kind === "PlanApplied" || told.kind === "WindowOpened",
  );
  return (
    <div class="page">
      <h1>Windows</h1>
      <div class="tools">
        <label>
          Ahead{" "}
          <select value={span} onChange={(event) => setQuery({ next: event.currentTarget.value })}>
            {SPANS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      <Shown live={live}>{(found) => <Calendar found={found} />}</Shown>
    </div>
  );
}
