/** The stream of events: what is on the screen is read again when something was committed. */
import { signal } from "@preact/signals";
import { Refusal, send, sessionOver } from "../api/client";
import { Reader, type Told } from "../lib/sse";

export type Condition = "connecting" | "open" | "lost" | "out";

/** Of the connection; `out`: nobody is signed in. */
export const condition = signal<Condition>("connecting");
/** When the connection was lost, milliseconds; 0: it is there. */
export const lostAt = signal(0);

type Hearer = (told: readonly Told[]) => void;
const hearers = new Set<Hearer>();
const SILENCE = 40_000;
const RETRY = [250, 500, 1000, 2000, 3000];

let running: AbortController | null = null;

/** Be told of events, and with none of them after a connection was made anew. */
export function hear(hearer: Hearer): () => void {
  hearers.add(hearer);
  return () => hearers.delete(hearer);
}

function tell(told: readonly Told[]): void {
  for (const hearer of [...hearers]) hearer(told);
}

sessionOver.tell = () => {
  close();
  condition.value = "out";
};

/** Follow the service until the session is over; nothing is followed while the page is hidden. */
export function open(): void {
  close();
  const mine = new AbortController();
  running = mine;
  condition.value = "connecting";
  void follow(mine.signal);
}

export function close(): void {
  running?.abort();
  running = null;
}

export function watchVisibility(): void {
  document.addEventListener("visibilitychange", () => {
    if (condition.value === "out") return;
    if (document.hidden) close();
    else if (!running) open();
  });
}

async function follow(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await stream(signal, () => {
        failures = 0;
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal && error.status === 401) return;
    }
    if (signal.aborted) return;
    condition.value = "lost";
    lostAt.value ||= Date.now();
    await new Promise((resolve) => setTimeout(resolve, RETRY[Math.min(failures, RETRY.length - 1)]));
  }
}

async function stream(signal: AbortSignal, begun: () => void): Promise<void> {
  const response = await send("/v1/events", { signal, headers: { accept: "text/event-stream" } });
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const events = new Reader();
  begun();
  condition.value = "open";
  lostAt.value = 0;
  tell([]);
  for (;;) {
    const timer = setTimeout(() => void reader.cancel(), SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    const told = events.take(decoder.decode(value, { stream: true }));
    if (told.length) tell(told);
  }
}
