import { useEffect, useState } from "preact/hooks";
import { get, type Schemas } from "../api/client";
import { serverNow } from "../lib/clock";
import { count, duration } from "../lib/format";
import { consumerHref, href } from "../lib/route";
import { useLive } from "../store/live";
import { Shown } from "../ui/states";

/** What the API says of a consumer in a group of slots; of pools it says other things, and the sentence has them. */
export interface Explanation {
  resource_group?: string;
  sentence?: string;
  levels?: Level[];
  moves?: { consumer: string; units?: number; for?: string; deadline?: string; kind?: string }[];
  would_help?: { changes: { what: string; old: unknown; new: unknown; consumer?: string }[]; quota: number }[];
  reclaim?: { gives?: number; must_give?: number; lacks?: number };
}

interface Level {
  parent: string;
  amount: number;
  siblings: {
    consumer: string;
    owned: number;
    demand: number;
    need: number;
    limit: number | null;
    exact: string;
    quota: number;
    bound: string;
    rule: string;
  }[];
}

const BOUNDS: Record<string, string> = {
  demand: "it wants no more",
  limit: "its limit",
  ratio: "shares by what is owned",
  reserve: "its reserve",
  sure: "what it is sure of",
  amount: "nothing is left",
};

/** `[R-QUOTA-2]` at the end of a sentence is for those who want the rule: it stands apart. */
export function withoutRule(sentence: string): [string, string[]] {
  const rules = [...sentence.matchAll(/\[(R-[A-Z]+-\d+)\]/g)].map((match) => match[1]!);
  return [sentence.replaceAll(/\s*\[R-[A-Z]+-\d+\]/g, ""), rules];
}

const MOST = 16;

/** Of many siblings those that say something: the one that is asked about, and who gets or wants most. */
export function telling<Row extends { consumer: string; quota: number; demand: number }>(rows: readonly Row[], path: string): Row[] {
  if (rows.length <= MOST) return [...rows];
  const isMine = (row: Row): boolean => `${path}/`.startsWith(`${row.consumer}/`);
  const others = rows.filter((row) => !isMine(row)).sort((a, b) => b.quota - a.quota || b.demand - a.demand);
  const kept = new Set(others.slice(0, MOST - 1));
  return rows.filter((row) => isMine(row) || kept.has(row));
}

function LevelTable({ level, path }: { level: Level; path: string }) {
  const shown = telling(level.siblings, path);
  return (
    <table class="plain">
      <caption>
        {level.parent === "/" ? "The cluster" : level.parent} divides {count(level.amount)}
      </caption>
      <thead>
        <tr>
          <th>consumer</th>
          <th class="number">owns</th>
          <th class="number">wants</th>
          <th class="number">limit</th>
          <th class="number">share</th>
          <th class="number">quota</th>
          <th>held there by</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((each) => (
          <tr key={each.consumer} class={`${path}/`.startsWith(`${each.consumer}/`) ? "mine" : ""}>
            <td>
              <a href={consumerHref(each.consumer)}>{each.consumer}</a>
            </td>
            <td class="number">{count(each.owned)}</td>
            <td class="number">{count(each.demand)}</td>
            <td class="number">{count(each.limit)}</td>
            <td class="number">{each.exact}</td>
            <td class="number">{count(each.quota)}</td>
            <td>
              {BOUNDS[each.bound] ?? each.bound} <code>{each.rule}</code>
            </td>
          </tr>
        ))}
        {shown.length < level.siblings.length && (
          <tr>
            <td colSpan={7}>
              <small>and {count(level.siblings.length - shown.length)} others, who get no more</small>
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Help({ found, path }: { found: Explanation; path: string }) {
  const first = found.would_help?.[0];
  if (!first) return null;
  const changes = first.changes.map((each) => {
    const where = each.consumer ?? found.resource_group ?? "";
    return { text: `${each.what} of ${where} at ${String(each.new)} instead of ${String(each.old)}`, where, ...each };
  });
  const query = changes.map((each) => `${each.where}:${each.what}=${String(each.new)}`).join("\n");
  return (
    <p>
      One more: with {changes.map((each) => each.text).join(" and ")}, the quota would be {count(first.quota)}.{" "}
      <a href={href("what-if", "", { consumer: path, changes: query })}>What if?</a>
    </p>
  );
}

/** One explanation: the sentence first, then who gets how much level by level, then what would help. */
export function Explained({ found, path }: { found: Explanation; path: string }) {
  const [sentence, rules] = withoutRule(found.sentence ?? "");
  return (
    <div class="explained">
      <p class="sentence">
        {sentence}{" "}
        {rules.map((rule) => (
          <code key={rule}>{rule}</code>
        ))}
      </p>
      {found.reclaim !== undefined && (found.reclaim.gives ?? 0) > 0 && (
        <p>It gives {count(found.reclaim.gives)} back.</p>
      )}
      {found.levels?.map((level) => <LevelTable key={level.parent} level={level} path={path} />)}
      <Help found={found} path={path} />
    </div>
  );
}

/** Milliseconds for which the latest search took: the next one waits until nothing has changed for longer. */
let searched = 0;

/** The explanation with what would help, which is a search: read when the numbers have stayed as they are for a while. */
function useSearched(path: string, group: string, numbers: string, plain: Answer | null): Answer | null {
  const [found, setFound] = useState<Answer | null>(null);
  useEffect(() => {
    setFound(null);
    if (!plain) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const began = performance.now();
      const answer = await get("/v1/consumers/explanation", { consumer: path, resource_group: group }, stop.signal).catch(() => null);
      searched = performance.now() - began;
      if (!stop.signal.aborted) setFound(answer);
    }, Math.max(200, 2 * searched));
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, group, numbers, plain]);
  return found;
}

type Answer = Schemas["ConsumerExplanation"];

/**
 * Why the numbers of a consumer are what they are, from the API: asked again when `numbers` of the consumer are others,
 * and with another plan.
 */
export function WhyConsumer({ path, group, numbers }: { path: string; group: string; numbers: string }) {
  const live = useLive(
    (signal) => get("/v1/consumers/explanation", { consumer: path, resource_group: group, would_help: 0 }, signal),
    [path, group, numbers],
    (told) => told.kind === "PlanApplied",
  );
  const searched = useSearched(path, group, numbers, live.data);
  return (
    <Shown live={live}>
      {(plain) => {
        const data = searched ?? plain;
        const found = data.explanations as unknown as Explanation[];
        if (!found.some((each) => each.sentence)) return <p class="sentence">{data.text || "It takes no part here."}</p>;
        return found.map((each, at) => <Explained key={at} found={each} path={path} />);
      }}
    </Shown>
  );
}

/** Budget of a period, until when it lasts, and when it begins anew; of resources a meter each. */
export function BudgetLine({ budget }: { budget: Schemas["Budget"] }) {
  const left = (Date.parse(budget.ends) - serverNow()) / 1000;
  const lasts = budget.lasts_until ? (Date.parse(budget.lasts_until) - serverNow()) / 1000 : null;
  const words = { wait: "it waits", borrow_only: "it only borrows", lowest_rank: "it is served last" };
  const amounts: [string, number, number][] =
    budget.unit_hours === null
      ? Object.entries(budget.hours).map(([name, most]) => [
          `${name} hours`,
          Number(most),
          Number(budget.seconds[name]) / 3600,
        ])
      : [["unit-hours", budget.unit_hours, Number(budget.unit_seconds) / 3600]];
  return (
    <p>
      {amounts.map(([name, most, used]) => (
        <span key={name}>
          <meter min={0} max={most} value={used} aria-label={`Budget of ${name} used`} /> {count(used)} of {count(most)}{" "}
          {name},{" "}
        </span>
      ))}
      of this {budget.period} are used; a new one begins in {duration(left)}. When they are used up, {words[budget.then]}
      {budget.used_up ? ": they are." : "."}
      {!budget.used_up && lasts !== null && ` As it has gone so far, that is in ${duration(lasts)}.`}
    </p>
  );
}
