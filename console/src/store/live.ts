/** What a page shows of the API, read again when something was committed. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Told } from "../lib/sse";
import { Refusal } from "../api/client";
import { hear } from "./link";

export interface Live<T> {
  data: T | null;
  error: Error | null;
  isLoading: boolean;
  refresh: () => void;
}

/** Milliseconds between two reads at least; a slow answer makes the pause as long, so that nobody is crowded out. */
const PAUSE = 60;

/** Milliseconds until what failed is tried again, where that may help. */
const AGAIN = 1000;

/** Codes of the service that say so, too. */
const PASSING = new Set(["too-many", "stopping", "no-answer", "store-busy"]);

/** Whether it may go otherwise a second later: nobody answered, or the service is busy or about to be started again. */
export function mayPass(error: unknown): boolean {
  return !(error instanceof Refusal) || PASSING.has(error.code);
}

/**
 * The latest answer of `load`. `keys` say what it depends on: when they change, it is read anew.
 *
 * @param isMeant which events make it out of date; all, where it is left out
 */
export function useLive<T>(
  load: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
  isMeant: (told: Told) => boolean = () => true,
): Live<T> {
  const [state, setState] = useState<{ data: T | null; error: Error | null; isLoading: boolean }>({
    data: null,
    error: null,
    isLoading: true,
  });
  const again = useRef<() => void>(() => undefined);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const stop = new AbortController();
    let busy = false;
    let stale = false;
    const read = async (): Promise<void> => {
      if (busy || stop.signal.aborted) {
        stale = true;
        return;
      }
      busy = true;
      stale = false;
      const began = performance.now();
      let pause = PAUSE;
      try {
        const data = await latest.current(stop.signal);
        if (!stop.signal.aborted) setState({ data, error: null, isLoading: false });
      } catch (error) {
        if (!stop.signal.aborted) setState((was) => ({ data: was.data, error: error as Error, isLoading: false }));
        if (mayPass(error)) {
          stale = true;
          pause = AGAIN;
        }
      }
      pause = Math.max(pause, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, pause));
      busy = false;
      if (stale) void read();
    };
    again.current = () => void read();
    setState((was) => ({ data: was.data, error: null, isLoading: true }));
    void read();
    const leave = hear((told) => {
      if (told.length === 0 || told.some(isMeant)) void read();
    });
    return () => {
      stop.abort();
      leave();
    };
  }, keys);
  const refresh = useCallback(() => again.current(), []);
  return { ...state, refresh };
}

/** Draw again each so many seconds: for what time alone changes. */
export function useTick(seconds = 1): void {
  const [, set] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => set((was) => was + 1), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
}
