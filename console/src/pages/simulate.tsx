import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { post, type Schemas } from "../api/client";
import { serverNow } from "../lib/clock";
import { download } from "../lib/download";
import { clock, duration, several } from "../lib/format";
import { consumerHref, route, setQuery } from "../lib/route";
import { cellOf, COLUMNS, courseOf, recordText, rowsOf, SPANS, type Resource, type Simulated } from "../lib/simulation";
import { useTick } from "../store/live";
import { Chart } from "../ui/chart";
import { Empty, Panel, Rest, Trouble } from "../ui/states";

type Outcome = Schemas["Outcome"];

const SIGNS: Record<string, [string, string]> = { good: ["✓", "good"], fair: ["!", "look"], bad: ["✗", "bad"], plain: ["·", "to know"] };

function Verdict({ title, outcome }: { title: string; outcome: Outcome | null }) {
  if (!outcome) return <Panel title={title}>This plan does not share it.</Panel>;
  return (
    <Panel title={title}>
      <ul class="verdict">
        {outcome.verdict.map(({ how, text }) => (
          <li key={text} class={how}>
            <b role="img" aria-label={SIGNS[how]?.[1] ?? how}>
              {SIGNS[how]?.[0]}
            </b>{" "}
            {text}
          </li>
        ))}
      </ul>
      {outcome.fares_badly.length > 0 && (
        <>
          <h3>Who fares badly</h3>
          <ul class="whom">
            {outcome.fares_badly.slice(0, 8).map((each) => (
              <li key={each.consumer}>
                <a href={consumerHref(each.consumer)}>{each.consumer}</a> {each.why}
              </li>
            ))}
          </ul>
          <Rest all={outcome.fares_badly.length} shown={8} />
        </>
      )}
    </Panel>
  );
}

/** Numbers of each consumer, as they were and as they would have been. */
function Consumers({ resource }: { resource: Resource }) {
  const [isWhole, setWhole] = useState(false);
  const rows = rowsOf(resource, !isWhole);
  return (
    <Panel
      title="Consumers, as it was → under the other plan"
      side={
        <label>
          <input type="checkbox" checked={isWhole} onChange={(event) => setWhole(event.currentTarget.checked)} /> also where nothing differs
        </label>
      }
    >
      {rows.length === 0 ? (
        <Empty>No number of a consumer differs.</Empty>
      ) : (
        <table class="plain">
          <thead>
            <tr>
              <th>consumer</th>
              {COLUMNS.map(({ key, head }) => (
                <th key={key} class="number">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.consumer}>
                <td>{row.consumer === "/" ? "the whole" : <a href={consumerHref(row.consumer)}>{row.consumer}</a>}</td>
                {COLUMNS.map((column) => {
                  const { before, after, how } = cellOf(row, column);
                  return (
                    <td key={column.key} class="number">
                      {before === after ? <span class="nil">{after}</span> : <span class={how}>{`${before} → ${after}`}</span>}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {resource.left_out > 0 && <p class="under">{several(resource.left_out, "consumer")} with less demand are left out.</p>}
    </Panel>
  );
}

function OverTime({ resource }: { resource: Resource }) {
  const [part, setPart] = useState("");
  const sides = [
    ["as it was", resource.before],
    ["under the other plan", resource.after],
  ] as const;
  const names = [...new Set(sides.flatMap(([, side]) => side?.over_time.consumers.map((each) => each.consumer) ?? []))];
  const courses = useMemo(() => sides.map(([name, side]) => [name, side && courseOf(side, part)] as const), [resource, part]);
  return (
    <Panel
      title="Over time"
      side={
        <label>
          Of{" "}
          <select value={part} onChange={(event) => setPart(event.currentTarget.value)}>
            <option value="">all</option>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      }
    >
      {courses.map(([name, course]) => course && (
        <div key={name}>
          <h3>{name}</h3>
          <Chart label={`What ${part || "everybody"} had over time, ${name}`} unit={resource.unit} {...course} />
        </div>
      ))}
    </Panel>
  );
}

function Report({ found }: { found: Simulated }) {
  const names = found.shared.map((each) => [each.resource, each.resource_group].filter(Boolean).join(" of "));
  const [at, setAt] = useState(0);
  const resource = found.shared[Math.min(at, found.shared.length - 1)];
  const { record } = found;
  return (
    <section aria-label="The report of the simulation">
      <p class="under">
        From {clock(record.begin)} to {clock(record.end)}, {duration((Date.parse(record.end) - Date.parse(record.begin)) / 1000)}
        {record.is_cut && " (the log no longer reaches back further)"}: {recordText(found)}{" "}
        <button type="button" onClick={() => download(JSON.stringify(found, null, 1), "simulation", record.end, "application/json", "json")}>
          Download it
        </button>
      </p>
      {found.never_run.map((each) => (
        <p class="warned" key={`${each.under} ${each.consumer} ${each.what}`}>
          {several(each.jobs, "job")} of {each.consumer} can never run {each.under === "after" ? "under the other plan" : "under the plan that was in force"}, such as {each.first}: {each.what}
        </p>
      ))}
      {names.length > 1 && (
        <p>
          <label>
            Of{" "}
            <select value={at} onChange={(event) => setAt(Number(event.currentTarget.value))}>
              {names.map((name, place) => (
                <option key={name} value={place}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
      {resource && (
        <>
          <div class="columns">
            <Verdict title="As it was" outcome={resource.before} />
            <Verdict title="Under the other plan" outcome={resource.after} />
          </div>
          <Consumers resource={resource} />
          <OverTime key={at} resource={resource} />
        </>
      )}
    </section>
  );
}

/** How long it has been played, and a way to give it up. */
function Playing({ since, onStop }: { since: number; onStop: () => void }) {
  useTick(1);
  return (
    <>
      <span role="status">It is being played…</span> <span aria-hidden="true">{duration((Date.now() - since) / 1000)}</span>
      <button type="button" onClick={onStop}>
        Stop
      </button>
    </>
  );
}

const NOTHING = { found: null as Simulated | null, error: null as Error | null, since: 0 };

/**
 * What happened, played again under another plan.
 *
 * @param under how that plan is called, behind "as it was and"
 * @param what tells plans apart: what was found for another one is not shown
 * @param textOf gives the text of that plan, null: the one in force
 */
export function Simulate({ under, what, textOf, isReady = true }: {
  under: string;
  what: string;
  textOf: () => Promise<string | null>;
  isReady?: boolean;
}) {
  const [state, setState] = useState(NOTHING);
  const running = useRef<AbortController | null>(null);
  const [wanted, setWanted] = useState(route.value.query.get("span"));
  const [span, , seconds] = SPANS.find(([each]) => each === wanted) ?? SPANS[1]!;
  const choose = (name: string): void => {
    setWanted(name);
    if (!location.hash) setQuery({ span: name }); // else a draft is there, and stays
  };
  const leave = (): void => {
    running.current?.abort();
    running.current = null;
    setState(NOTHING);
  };
  useEffect(() => leave, [what, span]);
  const play = async (): Promise<void> => {
    const mine = new AbortController();
    running.current = mine;
    setState({ ...NOTHING, since: Date.now() });
    try {
      const since = seconds ? new Date(serverNow() - seconds * 1000).toISOString() : null;
      const found = await post("/v1/simulate", {}, { text: await textOf(), since, until: null }, {}, mine.signal);
      if (!mine.signal.aborted) setState({ ...NOTHING, found });
    } catch (error) {
      if (!mine.signal.aborted) setState({ ...NOTHING, error: error as Error });
    }
  };
  return (
    <Panel title="Simulate what happened" side={<small>the record of the service, as it was and {under}: who waits, borrows and loses how much</small>}>
      <div class="buttons left">
        <label>
          In{" "}
          <select value={span} onChange={(event) => choose(event.currentTarget.value)}>
            {SPANS.map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={state.since > 0 || !isReady} onClick={() => void play()}>
          Simulate
        </button>
        {state.since > 0 && <Playing since={state.since} onStop={leave} />}
      </div>
      {state.error && <Trouble error={state.error} />}
      {state.found && <Report found={state.found} />}
      {!state.found && !state.error && <p>Users who wait less might have asked for more: a record cannot know that. Nothing is changed.</p>}
    </Panel>
  );
}
