import { useState } from "preact/hooks";
import { changeJob, post, type Schemas } from "../api/client";
import { count, several } from "../lib/format";
import { may, useMe, type Me } from "../store/me";
import { Dialog } from "../ui/dialog";

type Job = Schemas["Job"];
type Name = "cancel" | "hold" | "release" | "requeue" | "move" | "priority";

/** What an action does to whom, before it is done. */
export function consequence(name: Name, job: Job): string {
  const { running, waiting, delayed } = job.tasks;
  const rest = waiting + delayed;
  const stops = running ? `${several(running, "running task")} of ${job.user} get their signal and are stopped; their work is lost.` : "Nothing of it runs.";
  switch (name) {
    case "cancel":
      return `${stops} ${rest ? `${several(rest, "waiting task")} will never run.` : ""} Jobs that wait for its success will not run either. This cannot be undone.`;
    case "hold":
      return `Nothing more of it starts until it is released: ${several(rest, "task")}. What runs goes on: ${count(running)}.`;
    case "release":
      return `Its ${several(rest, "task")} may start again, each when its turn comes.`;
    case "requeue":
      return `${stops} They wait again, in front of the others of the job.`;
    case "move":
      return `It waits and runs as a job of another consumer of ${job.resource_group || "the same resource group"}, on what that one owns and may borrow.`;
    case "priority":
      return `Inside ${job.consumer}, jobs of a higher priority are served first. Other consumers lose or gain nothing by it.`;
  }
}

function isPossible(name: Name, job: Job): boolean {
  if (job.ended) return false;
  if (name === "release") return job.hold !== null;
  if (name === "hold") return job.hold === null;
  return name !== "requeue" || job.tasks.running > 0;
}

async function carryOut(name: Name, job: Job, text: string): Promise<void> {
  const values = { job: job.job };
  if (name === "cancel") await post("/v1/jobs/{job}/cancel", values, undefined as never);
  else if (name === "hold") await post("/v1/jobs/{job}/hold", values, { reason: text });
  else if (name === "release") await post("/v1/jobs/{job}/release", values, undefined as never);
  else if (name === "requeue") await post("/v1/jobs/{job}/requeue", values, undefined as never);
  else if (name === "move") await changeJob(job.job, { consumer: text });
  else await changeJob(job.job, { priority: Number(text) });
}

const FIELD: Partial<Record<Name, string>> = { hold: "Why, for people", move: "Consumer, by its path", priority: "Priority" };
const NAMES: readonly Name[] = ["hold", "release", "priority", "move", "requeue", "cancel"];

/** Whether somebody may do it: the owner of a job, or who manages jobs there. */
export function mayChange(me: Me | null, job: Job): boolean {
  return may(me, "manage_jobs", job.consumer) || (job.user === me?.user && may(me, "submit", job.consumer));
}

/** What can be done to a job, for those who may. */
export function Actions({ job, onDone }: { job: Job; onDone: () => void }) {
  const me = useMe().data;
  const [name, setName] = useState<Name | null>(null);
  const [text, setText] = useState("");
  const begin = (chosen: Name): void => {
    setText(chosen === "move" ? job.consumer : chosen === "priority" ? String(job.priority) : "");
    setName(chosen);
  };
  const field = name && FIELD[name];
  if (!mayChange(me, job)) return null;
  return (
    <div class="buttons left">
      {NAMES.filter((each) => isPossible(each, job)).map((each) => (
        <button key={each} type="button" class={each === "cancel" ? "danger" : ""} onClick={() => begin(each)}>
          {each[0]!.toUpperCase() + each.slice(1)}
        </button>
      ))}
      {name && (
        <Dialog
          title={`${name[0]!.toUpperCase() + name.slice(1)} job ${job.job} ${job.name}`}
          action={name[0]!.toUpperCase() + name.slice(1)}
          isDangerous={name === "cancel" || name === "requeue"}
          onDo={async () => {
            await carryOut(name, job, text);
            onDone();
          }}
          onClose={() => setName(null)}
        >
          <p>{consequence(name, job)}</p>
          {field && (
            <label>
              {field}
              <input
                value={text}
                required={name !== "hold"}
                {...(name === "priority" ? { inputMode: "numeric", pattern: "-?[0-9]+" } : {})}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            </label>
          )}
        </Dialog>
      )}
    </div>
  );
}
