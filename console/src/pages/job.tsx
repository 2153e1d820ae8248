import { useState } from "preact/hooks";
import { get, type Schemas } from "../api/client";
import { ago, clock, count, duration, several } from "../lib/format";
import { consumerHref, href, route, setQuery } from "../lib/route";
import { useLive, useTick } from "../store/live";
import { usePages } from "../store/pages";
import { Empty, Facts, Panel, Pill, Rest, Shown, type Fact } from "../ui/states";
import { TimeLine } from "../ui/timeline";
import { Actions } from "./job-actions";
import { TellMe } from "./job-notify";
import { Output } from "./job-output";
import { withoutRule } from "./why-consumer";

type Job = Schemas["Job"];
type Task = Schemas["Task"];
type Explanation = Schemas["JobExplanation"];

const OVER = new Set(["done", "failed", "cancelled"]);

function factsOf(job: Job): Fact[] {
  const { tasks } = job;
  const over = [tasks.failed && `${count(tasks.failed)} failed`, tasks.cancelled && `${count(tasks.cancelled)} cancelled`];
  return [
    { name: "State", value: <Pill state={job.state} />, note: job.hold !== null ? `held: ${job.hold || "no reason given"}` : "" },
    { name: "Done", value: `${count(tasks.done)} of ${count(tasks.tasks)}`, note: over.filter(Boolean).join(", ") },
    { name: "Running", value: count(tasks.running) },
    { name: "Waiting", value: count(tasks.waiting), note: tasks.delayed ? `${count(tasks.delayed)} until their next try` : "" },
    { name: "Taken back", value: several(tasks.reclaimed, "attempt") },
    { name: "Priority", value: count(job.priority) },
    { name: "Submitted", value: ago(job.submitted), note: `${clock(job.submitted)} by ${job.user}` },
    ...(job.ended ? [{ name: "Ended", value: ago(job.ended), note: job.exit_code === null ? "" : `exit code ${job.exit_code}` }] : []),
  ];
}

function Terms({ job }: { job: Job }) {
  const size = job.unit
    ? Object.entries(job.unit).map(([name, amount]) => `${amount} ${name}`).join(", ")
    : several(job.units, "slot");
  const rows: [string, string][] = [
    ["Command", job.argv?.join(" ") ?? "not known any more"],
    ["Directory", job.directory ?? ""],
    ["Each task needs", size],
    ["Time limit", job.time_limit ? duration(job.time_limit) : ""],
    ["At once at most", job.throttle ? count(job.throttle) : ""],
    ["Tries again", job.retries ? `${job.retries} times` : ""],
    ["Hosts", [...job.need.map((each) => `with ${each}`), ...job.avoid.map((each) => `without ${each}`)].join(", ")],
    ["After", job.after.map((each) => `job ${each.job} (${each.on})`).join(", ")],
    ["Labels", Object.entries(job.labels).map(([name, value]) => `${name}: ${value}`).join(", ")],
  ];
  return (
    <table class="plain">
      <tbody>
        {rows.filter(([, text]) => text).map(([name, text]) => (
          <tr key={name}>
            <td>{name}</td>
            <td class="mono">{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Holders({ why }: { why: Explanation }) {
  if (!why.holders.length) return null;
  return (
    <table class="plain">
      <caption>
        Who has the units <Rest all={why.holders.length} shown={20} />
      </caption>
      <thead>
        <tr>
          <th>consumer</th>
          <th class="number">has</th>
          <th class="number">quota</th>
          <th class="number">gives back</th>
          <th>until</th>
        </tr>
      </thead>
      <tbody>
        {why.holders.slice(0, 20).map((each) => (
          <tr key={each.consumer}>
            <td>
              <a href={consumerHref(each.consumer)}>{each.consumer}</a>
            </td>
            <td class="number">{count(each.units)}</td>
            <td class="number">{count(each.quota)}</td>
            <td class="number">{count(each.reclaiming)}</td>
            <td>{each.deadline ? ago(each.deadline) : ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Sentence({ text }: { text: string }) {
  const [said, rules] = withoutRule(text);
  return (
    <p class="sentence">
      {said[0]?.toUpperCase() + said.slice(1)}.{" "}
      {rules.map((rule) => (
        <code key={rule}>{rule}</code>
      ))}
    </p>
  );
}

function Why({ job }: { job: Job }) {
  const live = useLive((signal) => get("/v1/jobs/{job}/explanation", { job: job.job }, signal), [job.job]);
  return (
    <Shown live={live}>
      {(why) => (
        <>
          {why.text && <Sentence text={why.text} />}
          {!why.text && <p>{OVER.has(job.state) ? "It is over." : "It has what it asks for."}</p>}
          {why.place !== null && why.place > 0 && <p>{several(why.place, "task")} of its consumer come before it.</p>}
          {why.notices.length > 0 && (
            <p>
              {several(why.notices.length, "unit")} on the way to it; the first {ago(why.notices[0]!.deadline)} at the latest.
            </p>
          )}
          <Holders why={why} />
          <Reclaims why={why} />
        </>
      )}
    </Shown>
  );
}

function Reclaims({ why }: { why: Explanation }) {
  if (!why.reclaims.length) return null;
  return (
    <table class="plain">
      <caption>
        What was taken from it, the latest first <Rest all={why.reclaims.length} shown={30} />
      </caption>
      <thead>
        <tr>
          <th>task</th>
          <th>when</th>
          <th>for</th>
          <th>because</th>
          <th>it had</th>
        </tr>
      </thead>
      <tbody>
        {why.reclaims.slice(-30).reverse().map((each) => (
          <tr key={each.attempt}>
            <td>
              {each.task}, attempt {each.number}
            </td>
            <td>{clock(each.at)}</td>
            <td>{each.for ? <a href={consumerHref(each.for)}>{each.for}</a> : "its host"}</td>
            <td>
              {each.why ?? each.reason} {each.rule && <code>{each.rule}</code>}
            </td>
            <td>
              {each.ended
                ? `${duration((Date.parse(each.ended) - Date.parse(each.at)) / 1000)} of notice`
                : `until ${clock(each.deadline)}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ForecastPanel({ job }: { job: Job }) {
  const [isWanted, setWanted] = useState(false);
  if (!isWanted) {
    return (
      <button type="button" onClick={() => setWanted(true)}>
        When will it start?
      </button>
    );
  }
  return <ForecastOf job={job.job} />;
}

function ForecastOf({ job }: { job: string }) {
  const live = useLive((signal) => get("/v1/jobs/{job}/forecast", { job }, signal), [job], () => false);
  return (
    <Shown live={live}>
      {(told) => (
        <>
          <p class="sentence">
            {told.never
              ? `Never: ${told.never.text}.`
              : told.p50
                ? `Its next task begins ${ago(told.p50)} with a chance of one half${told.p90 ? `, ${ago(told.p90)} with one of nine tenths` : ""}.`
                : `Not before ${clock(told.horizon)} in half of the draws.`}
          </p>
          <ul class="notes">
            {told.assumptions.map((each) => (
              <li key={each}>
                <small>{each}</small>
              </li>
            ))}
          </ul>
        </>
      )}
    </Shown>
  );
}

/** The attempt that an address names, as `3/2`: of task 3 the second. */
export function attemptOf(text: string | null): { task: number; number: number } | null {
  const match = /^(\d+)\/(\d+)$/.exec(text ?? "");
  return match && { task: Number(match[1]), number: Number(match[2]) };
}

function Attempts({ job }: { job: Job }) {
  useTick(1);
  const chosen = attemptOf(route.value.query.get("attempt"));
  const choose = (task: number, number: number): void => setQuery({ attempt: `${task}/${number}` });
  const load = async (cursor: string, limit: number, signal: AbortSignal) => {
    const found = await get("/v1/jobs/{job}/tasks", { job: job.job, cursor, limit }, signal);
    return { rows: found.tasks, next: found.next };
  };
  const live = usePages(load, (task: Task) => String(task.task), [job.job]);
  return (
    <>
      <Panel title="Attempts" side={live.data?.next && <button type="button" onClick={live.more}>More tasks</button>}>
        <Shown live={live}>
          {(page) =>
            page.rows.some((task) => task.attempts.length) ? (
              <TimeLine
                tasks={page.rows}
                chosen={chosen ? `${chosen.task}/${chosen.number}` : ""}
                onChoose={choose}
              />
            ) : (
              <Empty>Nothing of it has begun.</Empty>
            )
          }
        </Shown>
      </Panel>
      {live.data && <Output job={job.job} tasks={live.data.rows} chosen={chosen} onChoose={({ task, number }) => choose(task, number)} />}
    </>
  );
}

/** One job: what it does, why it waits, what was taken from it, what it has written. */
export function JobPage({ name }: { name: string }) {
  const live = useLive((signal) => get("/v1/jobs/{job}", { job: name }, signal), [name]);
  return (
    <div class="page">
      <Shown live={live}>
        {(job) => (
          <>
            <h1>
              <a href={href("jobs")}>Jobs</a> / {job.job} {job.name} <small>of <a href={consumerHref(job.consumer)}>{job.consumer}</a></small>
            </h1>
            <Actions job={job} onDone={live.refresh} />
            <Facts facts={factsOf(job)} />
            <div class="columns spaced">
              <div>
                <Attempts job={job} />
              </div>
              <div>
                <Panel title={OVER.has(job.state) ? "What happened" : "Why"}>
                  <Why job={job} />
                  {job.tasks.waiting > 0 && !OVER.has(job.state) && <ForecastPanel job={job} />}
                </Panel>
                {!OVER.has(job.state) && (
                  <Panel title="Tell me when">
                    <TellMe job={job.job} />
                  </Panel>
                )}
                <Panel title="What it asks for">
                  <Terms job={job} />
                </Panel>
              </div>
            </div>
          </>
        )}
      </Shown>
    </div>
  );
}
