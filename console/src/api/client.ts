/** Requests to the REST API, typed by its OpenAPI document; a problem document becomes a Refusal. */
import { noteServerTime } from "../lib/clock";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type Fault = Schemas["Fault"];

type Json<R> = R extends { content: { "application/json": infer A } } ? A : never;
type Success<O> = O extends { responses: infer R }
  ? Json<R[keyof R & (200 | 201 | 202)]>
  : never;
type Body<O> = O extends { requestBody?: infer B } ? Json<NonNullable<B>> : never;
type With<M extends string> = {
  [P in keyof paths]: Record<M, unknown> extends Pick<paths[P], keyof paths[P] & M>
    ? never
    : paths[P] extends Record<M, { responses: unknown }>
      ? P
      : never;
}[keyof paths];

export type GetPath = With<"get">;
export type PostPath = With<"post">;
export type Answer<P extends GetPath> = Success<paths[P]["get"]>;
export type Values = Record<string, string | number | boolean | null | undefined>;

/** What every request of a session carries: a page of somebody else cannot send it. */
const OWN = { "fairhold-console": "1" };

/** Why a request was not carried out. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly faults: Fault[],
    message: string,
  ) {
    super(message);
  }
}

/** The address of a path with its `{names}` filled in and the rest of the values as its query. */
export function address(path: string, values: Values = {}): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null || value === "") continue;
    if (filled.includes(`{${name}}`)) filled = filled.replace(`{${name}}`, encodeURIComponent(String(value)));
    else query.set(name, value === true ? "1" : String(value));
  }
  const text = query.toString();
  return text ? `${filled}?${text}` : filled;
}

/** Whoever is told that the session is over. */
export const sessionOver: { tell: () => void } = { tell: () => undefined };

/** One request; raises Refusal, or TypeError where nobody answers. */
export async function send(target: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(target, {
    ...init,
    headers: { ...OWN, ...(init.headers as Record<string, string> | undefined) },
    credentials: "same-origin",
    redirect: "error",
  });
  noteServerTime(response.headers.get("date"));
  if (response.ok) return response;
  const problem = (await response.json().catch(() => null)) as Schemas["Problem"] | null;
  if (response.status === 401 && target.startsWith("/v1")) sessionOver.tell();
  throw new Refusal(
    response.status,
    problem?.code ?? "",
    problem?.faults ?? [],
    problem?.detail ?? `the service answered ${response.status}`,
  );
}

export async function get<P extends GetPath>(path: P, values: Values = {}, signal?: AbortSignal): Promise<Answer<P>> {
  const response = await send(address(path, values), { signal: signal ?? null });
  return (await response.json()) as Answer<P>;
}

async function withBody(method: string, target: string, body: unknown, headers: Record<string, string>, signal?: AbortSignal) {
  const type = { "content-type": "application/json" };
  const init = { method, body: JSON.stringify(body), headers: { ...type, ...headers }, signal: signal ?? null };
  return (await send(target, init)).json() as Promise<unknown>;
}

export async function post<P extends PostPath>(
  path: P,
  values: Values,
  body: Body<paths[P]["post"]> | undefined,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Success<paths[P]["post"]>> {
  return (await withBody("POST", address(path, values), body ?? {}, headers, signal)) as Success<paths[P]["post"]>;
}

export async function changeJob(job: string, body: Schemas["ChangeBody"]): Promise<Schemas["Job"]> {
  return (await withBody("PATCH", address("/v1/jobs/{job}", { job }), body, {})) as Schemas["Job"];
}

export async function watchJob(job: string, events: Schemas["WatchBody"]["events"]): Promise<void> {
  await withBody("PUT", address("/v1/jobs/{job}/notifications", { job }), { events }, {});
}

export async function applyPlan(
  body: Partial<Schemas["PlanBody"]> & { text: string },
  version: number,
  isDry: boolean,
): Promise<Schemas["Applied"]> {
  const target = address("/v1/plan", { dry_run: isDry });
  return (await withBody("PUT", target, body, { "if-match": `"${version}"` })) as Schemas["Applied"];
}

/** Begin a session with a token, or with the one-time code of `fairhold console`. */
export async function signIn(credential: { token: string } | { code: string }): Promise<void> {
  await withBody("POST", "/console/session", credential, {});
}

export async function signOut(): Promise<void> {
  await send("/console/session", { method: "DELETE" });
}

/** The provider at which one can sign in; null where there is none. */
export async function signInProvider(): Promise<string | null> {
  const found = (await (await send("/console/sign-in")).json()) as { provider: string | null };
  return found.provider;
}
