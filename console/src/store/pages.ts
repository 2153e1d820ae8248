/** A list of the API that comes in pages, read on as somebody scrolls, and its first thousand rows read anew. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useLive, type Live } from "./live";

export interface PageOf<Row> {
  rows: Row[];
  next: string | null;
}

export interface Listed<Row> extends Live<PageOf<Row>> {
  /** Read the next page, where there is one. */
  more: () => void;
}

const MOST = 1000;

/** Rows, and the keys that they are of: those of other ones are shown until the first page is here, and not read on. */
interface Part<Row> extends PageOf<Row> {
  of: string;
}

/** Rows of a first part that was read anew, and behind them those that were read before and are not in it. */
export function joined<Row>(first: readonly Row[], before: readonly Row[], covered: number, key: (row: Row) => string): Row[] {
  const seen = new Set(first.map(key));
  return [...first, ...before.slice(covered).filter((row) => !seen.has(key(row)))];
}

/**
 * @param load a page behind a cursor, empty = the first
 * @param size rows of the first page; later ones have five times as many
 */
export function usePages<Row>(
  load: (cursor: string, limit: number, signal: AbortSignal) => Promise<PageOf<Row>>,
  key: (row: Row) => string,
  keys: readonly unknown[],
  size = 200,
): Listed<Row> {
  const of = JSON.stringify(keys);
  const [read, setRead] = useState<Part<Row> | null>(null);
  const count = useRef(size);
  const busy = useRef(false);
  useEffect(() => {
    count.current = size;
  }, keys);
  const first = useLive(
    async (signal) => ({ ...(await load("", Math.min(MOST, count.current), signal)), of }),
    keys,
  );
  const rest = read?.of === of ? read : null;
  const fresh = first.data?.of === of ? first.data : null;
  const here = rest ?? fresh;
  const more = useCallback(() => {
    if (busy.current || !here?.next) return;
    busy.current = true;
    const stop = new AbortController();
    load(here.next, Math.min(MOST, 5 * size), stop.signal)
      .then((page) => {
        const rows = joined(here.rows, page.rows, 0, key);
        count.current = rows.length;
        setRead({ rows, next: page.next, of });
      })
      .catch(() => undefined)
      .finally(() => {
        busy.current = false;
      });
  }, [here, ...keys]);
  let data: PageOf<Row> | null = first.data;
  if (rest && fresh) {
    const covered = Math.min(fresh.rows.length, MOST);
    data = { rows: joined(fresh.rows, rest.rows, covered, key), next: rest.next };
  }
  return { ...first, data, more };
}
