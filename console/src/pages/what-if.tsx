import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, type Schemas } from "../api/client";
import { clock, count } from "../lib/format";
import { serverNow } from "../lib/clock";
import { draftHref } from "../lib/draft";
import { consumerHref, go, route, setQuery } from "../lib/route";
import { changesOf, knobsOf, valueOf, withChange, type Knob } from "../lib/what-if";
import { useLive } from "../store/live";
import { hear } from "../store/link";
import { Empty, Panel, Rest, Shown, Told, Trouble } from "../ui/states";
import { Effect } from "./plan-effect";
import { Simulate } from "./simulate";
import { Explained, type Explanation } from "./why-consumer";

type Explored = Schemas["Explored"];

const PAUSE = 120;
const EVERY = 3000;

/** What comes of changes on the live state; asked again when they change, and now and then when the cluster does. */
function useExplored(changes: readonly string[], consumer: string): { found: Explored | null; error: Error | null } {
  const [state, setState] = useState<{ found: Explored | null; error: Error | null }>({ found: null, error: null });
  const text = changes.join("\n");
  useEffect(() => {
    let isStale = false;
    let last = 0;
    const ask = (): void => {
      last = Date.now();
      post("/v1/explore", {}, { changes: changesOf(text), consumer }).then(
        (found) => !isStale && setState({ found, error: null }),
        (error: Error) => !isStale && setState((was) => ({ found: was.found, error })),
      );
    };
    const timer = setTimeout(ask, PAUSE);
    const leave = hear(() => {
      if (Date.now() - last > EVERY) ask();
    });
    return () => {
      isStale = true;
      clearTimeout(timer);
      leave();
    };
  }, [text, consumer]);
  return state;
}

const WORDS: Record<string, string> = { owned: "owns", limit: "limit", reserved: "never lends", demand: "wants" };

function Slider({ knob, changes }: { knob: Knob; changes: readonly string[] }) {
  const value = valueOf(changes, knob);
  const word = WORDS[knob.key] ?? knob.key;
  const set = (text: string): void => {
    const wanted = Number(text);
    if (text !== "" && Number.isFinite(wanted)) setQuery({ changes: withChange(changes, knob, wanted).join("\n") });
  };
  return (
    <div class="slider">
      <span>
        {knob.where} <strong>{word}</strong>
      </span>
      <input
        type="range"
        min={0}
        max={knob.most}
        value={value}
        aria-label={`${knob.where} ${word}`}
        onInput={(event) => set(event.currentTarget.value)}
      />
      <input
        type="number"
        min={0}
        value={value}
        aria-label={`${knob.where} ${word}, exactly`}
        onChange={(event) => set(event.currentTarget.value)}
      />
      <span>
        {value === knob.value ? (
          <small>{knob.isUnset && knob.key === "limit" ? "no limit" : "as it is"}</small>
        ) : (
          <button type="button" onClick={() => set(String(knob.value))}>
            back to {count(knob.value)}
          </button>
        )}
      </span>
    </div>
  );
}

function Differences({ found }: { found: Explored }) {
  const shown = (value: unknown): string => (value === null || value === undefined ? "none" : String(value));
  if (!found.differences.length) return <Empty>No number differs.</Empty>;
  return (
    <>
      <table class="plain">
        <thead>
          <tr>
            <th>consumer</th>
            <th>group</th>
            <th>number</th>
            <th class="number">now</th>
            <th class="number">then</th>
          </tr>
        </thead>
        <tbody>
          {found.differences.slice(0, 80).map((row, at) => {
            const [before, after] = [Number(row.before ?? 0), Number(row.after ?? 0)];
            return (
              <tr key={at}>
                <td>{row.consumer ? <a href={consumerHref(row.consumer)}>{row.consumer}</a> : "the whole"}</td>
                <td>{row.resource_group ?? row.pool}</td>
                <td>{row.key}</td>
                <td class="number">{shown(row.before)}</td>
                <td class="number">
                  <span class={after > before ? "more" : "less"}>{shown(row.after)}</span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Rest all={found.differences.length} shown={80} />
    </>
  );
}

function Answer({ changes, consumer }: { changes: readonly string[]; consumer: string }) {
  const { found, error } = useExplored(changes, consumer);
  const why = found?.why?.after as unknown as Explanation[] | undefined;
  return (
    <>
      {error && <Trouble error={error} />}
      {found && (
        <div class={error ? "stale" : ""}>
          <Panel title="Who would have what" side={<small>on the state of {clock(found.at)}, plan {found.version}</small>}>
            <Differences found={found} />
            {found.warnings.map((each, at) => (
              <p class="warned" key={at}>
                <Told text={`${each.what}; ${each.mend}`} />
              </p>
            ))}
            {found.findings.length > 0 && <p class="trouble">The independent check objects: {found.findings.join("; ")}</p>}
            {found.findings.length === 0 && <small>Every number was computed again by independent code.</small>}
          </Panel>
          {why && (
            <Panel title={`Why ${consumer} would have it`}>
              {why.map((each, at) => (
                <Explained key={at} found={each} path={consumer} />
              ))}
            </Panel>
          )}
        </div>
      )}
    </>
  );
}

/** Changes as a text of the plan. */
function drafted(changes: readonly string[]): Promise<Schemas["Draft"]> {
  return post("/v1/explore/draft", {}, { changes: [...changes] });
}

function MakePlan({ changes }: { changes: readonly string[] }) {
  const [error, setError] = useState<Error | null>(null);
  const open = async (): Promise<void> => {
    try {
      go(await draftHref(await drafted(changes)));
    } catch (found) {
      setError(found as Error);
    }
  };
  return (
    <>
      <button type="button" class="primary" onClick={() => void open()}>
        Make it a draft of the plan
      </button>
      {error && <Trouble error={error} />}
    </>
  );
}

/** Seconds until an hour of the reader's day, today or tomorrow. */
export function secondsUntil(hour: number, now: number): number {
  const at = new Date(now);
  at.setHours(hour, 0, 0, 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return Math.ceil((at.getTime() - now) / 1000);
}

const AHEAD: [string, (now: number) => number][] = [
  ["tonight, 22:00", (now) => secondsUntil(22, now)],
  ["tomorrow, 08:00", (now) => secondsUntil(8, now)],
  ["a week on", () => 604800],
];

/** The cluster played on under the plan with the changes, beside what happens without them. */
function PlayOn({ changes }: { changes: readonly string[] }) {
  const [state, setState] = useState<{ diff: Schemas["Difference"] | null; left: string[]; error: Error | null; isBusy: boolean }>(NOTHING);
  const shown = useRef("");
  useEffect(() => {
    shown.current = changes.join("\n");
    setState(NOTHING);
  }, [changes.join("\n")]);
  const play = async (seconds: number): Promise<void> => {
    const asked = shown.current; // what comes back for sliders that stand elsewhere by then is not shown
    setState({ ...NOTHING, isBusy: true });
    try {
      const draft = await drafted(changes);
      const diff = await post("/v1/plan/diff", {}, { text: draft.text, was: {}, next: `${seconds}s` });
      if (asked === shown.current) setState({ ...NOTHING, diff, left: draft.left_out });
    } catch (error) {
      if (asked === shown.current) setState({ ...NOTHING, error: error as Error });
    }
  };
  return (
    <Panel title="Play on" side={<small>as it is now, until then: who is stopped, who waits longer, what the windows do</small>}>
      <div class="buttons left">
        {AHEAD.map(([name, seconds]) => (
          <button key={name} type="button" disabled={state.isBusy || !changes.length} onClick={() => void play(seconds(serverNow()))}>
            Until {name}
          </button>
        ))}
        {state.isBusy && <span>It is being played…</span>}
        {!changes.length && <span>Move a slider first.</span>}
      </div>
      {state.error && <Trouble error={state.error} />}
      {state.left.length > 0 && <p class="warned">What is wanted is as it is now: {state.left.join(", ")} is left out.</p>}
      {state.diff && <Effect diff={state.diff} />}
    </Panel>
  );
}

const NOTHING = { diff: null, left: [] as string[], error: null, isBusy: false };

function Sliders({ content }: { content: Schemas["Explorable"] }) {
  const { query } = route.value;
  const paths = content.consumers.map((each) => each.path);
  const consumer = paths.find((each) => each === query.get("consumer")) ?? paths[0] ?? "";
  const changes = changesOf(query.get("changes"));
  const touched = [...new Set(changes.map((each) => each.split(":")[0]!))].filter((each) => each !== consumer && paths.includes(each));
  const knobs = [consumer, ...touched].flatMap((path) => knobsOf(content, path));
  return (
    <>
      <div class="tools">
        <label>
          Consumer{" "}
          <input
            type="search"
            list="consumers"
            value={consumer}
            onChange={(event) => setQuery({ consumer: event.currentTarget.value })}
          />
          <datalist id="consumers">
            {paths.slice(0, 2000).map((path) => (
              <option key={path} value={path} />
            ))}
          </datalist>
        </label>
        {changes.length > 0 && (
          <button type="button" onClick={() => setQuery({ changes: "" })}>
            All as it is
          </button>
        )}
        {changes.length > 0 && <MakePlan changes={changes} />}
        <span>Nothing is changed here.</span>
      </div>
      <Panel title="Other numbers">
        <div class="sliders">
          {knobs.map((knob) => (
            <Slider key={`${knob.where} ${knob.key}`} knob={knob} changes={changes} />
          ))}
        </div>
        {knobs.length === 0 && <Empty>The plan says no number of {consumer} that could be another.</Empty>}
        {changes.length > 0 && (
          <p>
            {changes.map((each) => (
              <code key={each}>{each} </code>
            ))}
          </p>
        )}
      </Panel>
      <Answer changes={changes} consumer={consumer} />
      <PlayOn changes={changes} />
      <Simulate
        under={changes.length ? "with these numbers" : "under the plan in force"}
        what={`${content.version} ${changes.join("\n")}`}
        textOf={async () => (changes.length ? (await drafted(changes)).text : null)}
      />
    </>
  );
}

/** Other numbers on the state of now: who would have what, and why. */
export function WhatIf() {
  const live = useLive((signal) => get("/v1/explore", {}, signal), [], (told) => told.kind === "PlanApplied");
  return (
    <div class="page">
      <h1>What if</h1>
      <Shown live={live}>{(content) => <Sliders content={content} />}</Shown>
    </div>
  );
}
