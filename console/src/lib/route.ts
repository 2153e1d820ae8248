/** Addresses: every view has one that can be sent to a colleague. */
import { signal } from "@preact/signals";

export const BASE = "/console";

export interface Route {
  page: string;
  /** What follows the page: the number of a job, the path of a consumer. */
  rest: string;
  query: URLSearchParams;
  /** What only the page knows, with its `#`. */
  hash: string;
}

/** A part of an address; one that was cut on its way stands for itself. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function parse(path: string, search: string, hash = ""): Route {
  const below = path.startsWith(BASE) ? path.slice(BASE.length) : path;
  const [page = "", ...rest] = below.split("/").filter(Boolean).map(decoded);
  return { page: page || "cluster", rest: rest.join("/"), query: new URLSearchParams(search), hash };
}

export const route = signal<Route>(
  typeof location === "undefined" ? parse("", "") : parse(location.pathname, location.search, location.hash),
);

/** The address of a page. */
export function href(page: string, rest = "", query: Record<string, string> = {}): string {
  const path = [page, ...rest.split("/").filter(Boolean)].map(encodeURIComponent).join("/");
  const kept = Object.entries(query).filter(([, value]) => value !== "");
  const text = new URLSearchParams(kept).toString();
  return `${BASE}/${path}${text ? `?${text}` : ""}`;
}

export function consumerHref(path: string): string {
  return href("consumers", path);
}

export function go(target: string, replace = false): void {
  history[replace ? "replaceState" : "pushState"](null, "", target);
  follow();
}

/** Change part of the query of the address, in place. */
export function setQuery(changes: Record<string, string>): void {
  const query = Object.fromEntries(route.value.query);
  go(href(route.value.page, route.value.rest, { ...query, ...changes }), true);
}

function follow(): void {
  route.value = parse(location.pathname, location.search, location.hash);
}

/** Follow links of the console without loading the page again. */
export function listen(): void {
  addEventListener("popstate", follow);
  document.addEventListener("click", (event) => {
    const link = (event.target as Element | null)?.closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target || link.download) return;
    const target = new URL(link.href);
    if (target.hash && target.pathname + target.search === location.pathname + location.search && target.hash === "#main") return;
    if (target.origin !== location.origin || !target.pathname.startsWith(`${BASE}/`)) return;
    event.preventDefault();
    go(target.pathname + target.search + target.hash);
    document.getElementById("main")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  });
}
