import type { Schemas } from "../api/client";
import { serverNow } from "../lib/clock";
import { clock, duration } from "../lib/format";

type Task = Schemas["Task"];
type Attempt = Schemas["Attempt"];

/** Time that all attempts together span, milliseconds; a little room at both ends. */
export function spanOf(tasks: readonly Task[], now: number): [number, number] {
  let from = now;
  let to = 0;
  for (const task of tasks) {
    for (const attempt of task.attempts) {
      if (!attempt.started) continue;
      from = Math.min(from, Date.parse(attempt.started));
      to = Math.max(to, attempt.ended ? Date.parse(attempt.ended) : now);
      if (attempt.deadline && !attempt.ended) to = Math.max(to, Date.parse(attempt.deadline));
    }
  }
  const last = Math.max(to, from + 1000);
  return [from, last + (last - from) * 0.02];
}

export function attemptText(attempt: Attempt, now: number): string {
  const begin = attempt.started ? Date.parse(attempt.started) : now;
  const end = attempt.ended ? Date.parse(attempt.ended) : now;
  const said = [`attempt ${attempt.number}`, attempt.state, duration((end - begin) / 1000)];
  if (attempt.host) said.push(`on ${attempt.host}`);
  if (attempt.for) said.push(`${attempt.ended ? "taken back" : "under notice"} for ${attempt.for}`);
  else if (attempt.reason) said.push(attempt.reason);
  if (attempt.code !== null) said.push(`exit code ${attempt.code}`);
  return said.join(", ");
}

/** Each task a line, each attempt a bar on it; where it was taken back, for whom. */
export function TimeLine({ tasks, chosen, onChoose }: {
  tasks: readonly Task[];
  chosen: string;
  onChoose: (task: number, attempt: number) => void;
}) {
  const now = serverNow();
  const begun = tasks.filter((task) => task.attempts.length > 0);
  const [from, to] = spanOf(begun, now);
  const place = (at: number): number => (100 * (at - from)) / (to - from);
  return (
    <div class="timeline">
      <ol>
        {begun.map((task) => (
          <li key={task.task}>
            <span class="name">{task.task}</span>
            <span class="track">
              {task.attempts
                .filter((attempt) => attempt.started)
                .map((attempt) => {
                  const left = place(Date.parse(attempt.started!));
                  const right = place(attempt.ended ? Date.parse(attempt.ended) : now);
                  const text = `Task ${task.task}, ${attemptText(attempt, now)}`;
                  const isNotice = attempt.deadline !== null && attempt.ended === null;
                  const kind = isNotice ? "notice" : attempt.reason === "reclaim" ? "reclaimed" : attempt.state;
                  return (
                    <button
                      key={attempt.attempt}
                      type="button"
                      class={`attempt ${kind}`}
                      aria-pressed={chosen === `${task.task}/${attempt.number}`}
                      style={{ left: `${left}%`, width: `${Math.max(0.4, right - left)}%` }}
                      title={text}
                      aria-label={text}
                      onClick={() => onChoose(task.task, attempt.number)}
                    />
                  );
                })}
            </span>
          </li>
        ))}
      </ol>
      <div class="axis">
        <span>{clock(from)}</span>
        <span>{clock(to)}</span>
      </div>
    </div>
  );
}
