/** The service's time: a browser's clock may be wrong, and deadlines are the service's. */
let offset = 0;

/** Take the service's time from an answer; it has whole seconds, so less than two of them do not count. */
export function noteServerTime(header: string | null, now = Date.now()): void {
  const told = header ? Date.parse(header) : NaN;
  if (Number.isNaN(told)) return;
  const found = told - now;
  offset = Math.abs(found) > 2000 ? found : 0;
}

/** Milliseconds since 1970, as the service counts them. */
export function serverNow(): number {
  return Date.now() + offset;
}
