import { useEffect, useRef, useState } from "preact/hooks";
import { address, send, type Schemas } from "../api/client";
import { Empty, Panel } from "../ui/states";

type Task = Schemas["Task"];

/** Characters that are kept on the page. */
const MOST = 200_000;

/** What an attempt writes, as it writes it. */
function useOutput(job: string, task: number, attempt: number): { text: string; isOver: boolean; why: string } {
  const [state, setState] = useState({ text: "", isOver: false, why: "" });
  useEffect(() => {
    const stop = new AbortController();
    const decoder = new TextDecoder();
    setState({ text: "", isOver: false, why: "" });
    const follow = async (): Promise<void> => {
      let offset = 0;
      while (!stop.signal.aborted) {
        const target = address("/v1/jobs/{job}/tasks/{task}/output", { job, task, attempt, offset, wait: 20 });
        const answer = await send(target, { signal: stop.signal });
        const piece = decoder.decode(await answer.arrayBuffer(), { stream: true });
        offset = Number(answer.headers.get("fairhold-next"));
        const isOver = answer.headers.get("fairhold-ended") === "1";
        setState((was) => ({ text: (was.text + piece).slice(-MOST), isOver, why: "" }));
        if (isOver) return;
      }
    };
    follow().catch((error: Error) => {
      if (!stop.signal.aborted) setState((was) => ({ ...was, isOver: true, why: error.message }));
    });
    return () => stop.abort();
  }, [job, task, attempt]);
  return state;
}

function Text({ job, task, attempt }: { job: string; task: number; attempt: number }) {
  const { text, isOver, why } = useOutput(job, task, attempt);
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const node = box.current;
    if (node && isAtEnd.current) node.scrollTop = node.scrollHeight;
  }, [text]);
  return (
    <>
      <pre
        class="output mono"
        ref={box}
        tabIndex={0}
        aria-label={`Output of task ${task}`}
        onScroll={(event) => {
          const node = event.currentTarget;
          isAtEnd.current = node.scrollTop + node.clientHeight >= node.scrollHeight - 24;
        }}
      >
        {text || (isOver ? "It has written nothing." : "")}
      </pre>
      <small>{why || (isOver ? "This is all." : "It is still writing.")}</small>
    </>
  );
}

/** The output of the chosen attempt; at first of the first task that runs, else of the last that began. */
export function Output({ job, tasks, chosen, onChoose }: {
  job: string;
  tasks: readonly Task[];
  chosen: { task: number; number: number } | null;
  onChoose: (chosen: { task: number; number: number }) => void;
}) {
  const begun = tasks.filter((task) => task.attempts.length > 0);
  const first = begun.find((task) => task.state === "running") ?? begun.at(-1);
  const [kept, setKept] = useState<{ task: number; number: number } | null>(null);
  const proposed = first ? { task: first.task, number: first.attempts.at(-1)!.number } : null;
  useEffect(() => {
    if (!kept && proposed) setKept(proposed);
  }, [proposed?.task]);
  const shown = chosen ?? kept;
  if (!shown) {
    return (
      <Panel title="Output">
        <Empty>Nothing was written yet.</Empty>
      </Panel>
    );
  }
  const attempts = begun.flatMap((task) => task.attempts.map((each) => ({ task: task.task, number: each.number })));
  const name = (each: { task: number; number: number }): string => `${each.task}/${each.number}`;
  return (
    <Panel
      title="Output"
      side={
        <label>
          Task and attempt{" "}
          <select
            value={name(shown)}
            onChange={(event) => {
              const [task, number] = event.currentTarget.value.split("/").map(Number);
              onChoose({ task: task!, number: number! });
            }}
          >
            {attempts.slice(0, 500).map((each) => (
              <option key={name(each)} value={name(each)}>
                {each.task}, attempt {each.number}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <Text key={name(shown)} job={job} task={shown.task} attempt={shown.number} />
    </Panel>
  );
}
