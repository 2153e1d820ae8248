import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import { clock, count, several } from "../lib/format";
import { consumerHref } from "../lib/route";
import { Rest, Told, Trouble } from "../ui/states";
import { gains, stopsOf, stopTimes, type DiffDocument, type Pair } from "../lib/effect";
import { serverNow } from "../lib/clock";
import { TimeMarks } from "../ui/time-marks";

function Change({ pair }: { pair: Pair | undefined }) {
  if (!pair) return <span class="nil">–</span>;
  const [old, next] = pair;
  const text = (value: number | null): string => (value === null ? "none" : count(value));
  if (old === next) return <>{text(old)}</>;
  const isMore = next === null || (old !== null && next > old);
  return (
    <span class={isMore ? "more" : "less"}>
      {text(old)} → {text(next)}
    </span>
  );
}

/** Quota before and after as two bars of one scale, with a mark where what it has now ends. */
function BeforeAfter({ quota, has, scale }: { quota: Pair; has: number | undefined; scale: number }) {
  const share = (units: number | null): string => `${Math.min(100, (100 * (units ?? scale)) / scale)}%`;
  const text = `quota ${count(quota[0])} before, ${count(quota[1])} after${has === undefined ? "" : `, has ${count(has)}`}`;
  return (
    <div class="before-after" role="img" aria-label={text} title={text}>
      <span class="part idle" style={{ width: share(quota[0]) }} />
      <span class={`part ${(quota[1] ?? Infinity) < (quota[0] ?? Infinity) ? "borrowed" : "own"}`} style={{ width: share(quota[1]) }} />
      {has !== undefined && <i class="mark owned" style={{ left: share(has) }} />}
    </div>
  );
}

function scaleOf(rows: readonly [string, { quota?: Pair; allocated?: number }][]): number {
  return Math.max(1, ...rows.flatMap(([, row]) => [...(row.quota ?? []), row.allocated ?? 0]).map((each) => each ?? 0));
}

function Groups({ diff }: { diff: DiffDocument }) {
  const groups = Object.entries(diff.resource_groups).filter(([, group]) => Object.keys(group.consumers ?? {}).length);
  if (!groups.length) return <p>Nobody's numbers differ now.</p>;
  const drawn = groups.map(([name, group]) => [name, gains(group)] as const);
  return (
    <>
      {drawn.map(([name, rows]) => (
        <table class="plain" key={name}>
          <caption>{name}, now</caption>
          <thead>
            <tr>
              <th>consumer</th>
              <th class="number">owns</th>
              <th class="number">limit</th>
              <th class="number">quota</th>
              <th>before → after; the mark: what it has</th>
              <th class="number">has</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([path, row]) => (
              <tr key={path}>
                <td>
                  <a href={consumerHref(path)}>{path}</a>
                </td>
                <td class="number">
                  <Change pair={row.owned} />
                </td>
                <td class="number">
                  <Change pair={row.limit} />
                </td>
                <td class="number">
                  <Change pair={row.quota} />
                </td>
                <td>{row.quota && <BeforeAfter quota={row.quota} has={row.allocated} scale={scaleOf(rows)} />}</td>
                <td class="number">{count(row.allocated)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </>
  );
}

function Stops({ diff }: { diff: DiffDocument }) {
  const alone = diff.over_time?.alone;
  const stops = stopsOf(diff);
  if (!alone?.units && !stops.length) return <p>It stops nothing of what runs now.</p>;
  const lost = Object.entries(alone?.lost ?? {}).map(([name, seconds]) => `${(Number(seconds) / 3600).toFixed(2)} ${name.replace(/s$/, "")}-hours`);
  return (
    <>
      <p class="warned">
        It stops {several(alone?.units ?? 0, "unit")} of what runs now
        {alone?.by && `, by ${clock(alone.by)}`}
        {lost.length > 0 && `; ${lost.join(", ")} of work are lost`}.
      </p>
      <TimeMarks label="When it stops what runs now" from={serverNow()} marks={stopTimes(diff)} />
      <ul>
        {stops.map((each) => (
          <li key={each.consumer}>
            {count(each.units)} of {each.consumer}
            {each.for.length > 0 && `, for ${each.for.join(", ")}`}
          </li>
        ))}
      </ul>
    </>
  );
}

function Waits({ diff }: { diff: DiffDocument }) {
  const waits = Object.entries(diff.over_time?.waits ?? {});
  if (!waits.length) return null;
  return (
    <p>
      Waits longer in the time that is looked at:{" "}
      {waits.slice(0, 8).map(([path]) => path).join(", ")}
      {waits.length > 8 && ` and ${several(waits.length - 8, "other")}`}.
    </p>
  );
}

function Coming({ diff }: { diff: DiffDocument }) {
  if (!diff.windows?.length) return null;
  const marks = diff.windows.slice(0, 20).flatMap((each) => {
    const changes = Object.values(each.resource_groups ?? {}).flatMap((group) => gains(group)).length;
    return each.now ? [{ at: Date.parse(each.now), units: changes, text: `${several(changes, "consumer")} with another number` }] : [];
  });
  return (
    <>
      <h3>At the coming windows</h3>
      <TimeMarks label="When the coming windows open and close" from={serverNow()} marks={marks} />
      <table class="plain">
        <tbody>
          {diff.windows.slice(0, 20).map((each, at) => {
            const changes = Object.values(each.resource_groups ?? {}).flatMap((group) => gains(group));
            return (
              <tr key={at}>
                <td>{each.now && clock(each.now)}</td>
                <td>
                  {changes.length === 0 && "the same"}
                  {changes.slice(0, 6).map(([path, row]) => (
                    <span key={path}>
                      {path} <Change pair={row.quota} />{" "}
                    </span>
                  ))}
                  <Rest all={changes.length} shown={6} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Rest all={diff.windows.length} shown={20} />
    </>
  );
}

/** What another plan would do: before → after of each consumer, what is stopped, and the coming windows. */
export function Effect({ diff: answer }: { diff: Schemas["Difference"] }) {
  const diff = answer as unknown as DiffDocument;
  return (
    <div class="effect">
      {(answer.in_the_way ?? []).map((fault, at) => (
        <p class="warned" key={at}>
          Jobs are in its way: <Told text={`${fault.what}; ${fault.mend}`} />
        </p>
      ))}
      <p class="sentence">{several(diff.summary.values, "value")} of the plan changed.</p>
      <Stops diff={diff} />
      <Groups diff={diff} />
      <Waits diff={diff} />
      <Coming diff={diff} />
      <table class="plain">
        <caption>What the plan says otherwise</caption>
        <tbody>
          {answer.settings.slice(0, 40).map((each) => (
            <tr key={each.place}>
              <td>
                <code>{each.place}</code>
              </td>
              <td class="number">
                {shown(each.old)} → {shown(each.new)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Rest all={answer.settings.length} shown={40} />
    </div>
  );
}

/** What a change would do, worked out while its dialog is open. */
export function Foreseen({ ask }: { ask: () => Promise<Schemas["Applied"]> }) {
  const [diff, setDiff] = useState<Schemas["Difference"] | null>(null);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => void ask().then((found) => setDiff(found.diff), setError), []);
  if (error) return <Trouble error={error} />;
  return diff ? <Effect diff={diff} /> : <p>What it would do is being worked out…</p>;
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
