import { useState } from "preact/hooks";
import { get, watchJob, type Schemas } from "../api/client";
import { useLive } from "../store/live";
import { Shown, Trouble } from "../ui/states";

type Event = Schemas["WatchBody"]["events"][number];

const EVENTS: readonly [Event, string][] = [
  ["start", "it starts"],
  ["reclaim", "it has to give units back"],
  ["withdrawn", "it need not give them back after all"],
  ["end", "it ends"],
];

/** The events that are wanted after one of them was chosen, or chosen no more. */
export function chosen(before: readonly string[], event: Event, isWanted: boolean): Event[] {
  return EVENTS.map(([each]) => each).filter((each) => (each === event ? isWanted : before.includes(each)));
}

/** Of what of a job whoever looks is told, by the ways that reach him. */
export function TellMe({ job }: { job: string }) {
  const live = useLive((signal) => get("/v1/jobs/{job}/notifications", { job }, signal), [job], () => false);
  const [error, setError] = useState<Error | null>(null);
  const choose = async (before: readonly string[], event: Event, isWanted: boolean): Promise<void> => {
    try {
      await watchJob(job, chosen(before, event, isWanted));
      setError(null);
    } catch (problem) {
      setError(problem as Error);
    }
    live.refresh();
  };
  return (
    <Shown live={live}>
      {(told) => (
        <>
          <ul class="choices">
            {EVENTS.map(([event, text]) => (
              <li key={event}>
                <label>
                  <input
                    type="checkbox"
                    checked={told.events.includes(event)}
                    onClick={(click) => {
                      click.preventDefault();
                      void choose(told.events, event, !told.events.includes(event));
                    }}
                  />
                  {text}
                </label>
              </li>
            ))}
          </ul>
          {error && <Trouble error={error} />}
        </>
      )}
    </Shown>
  );
}
