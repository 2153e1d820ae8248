import { useMemo, useState } from "preact/hooks";
import { get, post, type Schemas } from "../api/client";
import { instantOf } from "../lib/audit";
import { ago, amount, count, several } from "../lib/format";
import { byHost, coloursOf, type Standing } from "../lib/hosts";
import { href, route, setQuery } from "../lib/route";
import { useLive, useTick } from "../store/live";
import { may, useMe } from "../store/me";
import { Dialog } from "../ui/dialog";
import { Empty, Pill, Shown } from "../ui/states";

type Host = Schemas["Host"];
const MOST = 120;

function nameOf(host: Host): string {
  return host.host === "-" ? "the service's own machine" : host.host;
}

function Cells({ host, standing, colours }: { host: Host; standing: readonly Standing[]; colours: ReadonlyMap<string, string> }) {
  const slots = Object.values(host.resource_groups).reduce((all, each) => all + each, 0);
  const units = standing.flatMap((each) => Array.from({ length: Math.min(each.units, 512) }, (_, at) => ({ each, at })));
  return (
    <div class="cells">
      {units.map(({ each, at }) => (
        <a
          key={`${each.attempt} ${at}`}
          href={href("jobs", each.job)}
          class={each.deadline ? "notice" : ""}
          style={{ "--cell": colours.get(each.branch) ?? "var(--lost)" }}
          title={`${each.consumer}, job ${each.job}, task ${each.task}${each.deadline ? `, under notice for ${each.for ?? "its host"}` : ""}`}
          aria-label={`Job ${each.job} of ${each.consumer}`}
        />
      ))}
      {!host.resources && Array.from({ length: Math.max(0, Math.min(slots, 512) - units.length) }, (_, at) => <i key={at} />)}
    </div>
  );
}

function Resources({ host }: { host: Host }) {
  if (!host.resources) return null;
  return (
    <table class="plain">
      <tbody>
        {Object.entries(host.resources).map(([name, share]) => (
          <tr key={name}>
            <td>{name}</td>
            <td class="number">
              {count(amount(share.used))} of {count(amount(share.total))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function owners(host: Host): string {
  if (!host.owners?.length) return "";
  return `owned by ${host.owners.map((each) => each.consumer).join(", ")}`;
}

function Card({ host, standing, colours, mayManage, onClose, onOpen }: {
  host: Host;
  standing: readonly Standing[];
  colours: ReadonlyMap<string, string>;
  mayManage: boolean;
  onClose: () => void;
  onOpen: () => void;
}) {
  const notes = [
    host.reason,
    host.open_at && `opens ${ago(host.open_at)}`,
    host.close_at && `closes ${ago(host.close_at)}`,
    host.empty_by && `empty ${ago(host.empty_by)} at the latest`,
    host.silent_since && `silent since ${ago(host.silent_since)}`,
    host.gone_at && "nothing of it runs any more",
    owners(host),
    host.labels.join(", "),
  ];
  const isOpen = host.state === "up";
  return (
    <article class="host" aria-label={nameOf(host)}>
      <h2>
        <span>{nameOf(host)}</span> <Pill state={host.state} />
      </h2>
      <Cells host={host} standing={standing} colours={colours} />
      <Resources host={host} />
      <small>
        {several(host.running, "attempt")} running
        {host.starting ? `, ${count(host.starting)} starting` : ""}
        {notes.filter(Boolean).map((note) => ` · ${note}`)}
      </small>
      {mayManage && (
        <div class="buttons left">
          <button type="button" onClick={isOpen ? onClose : onOpen}>
            {isOpen ? "Close" : "Open"}
          </button>
        </div>
      )}
    </article>
  );
}

/** Who stands on a host, in words: that is whom a drain stops. */
export function whoStands(standing: readonly Standing[]): string {
  const sums = new Map<string, number>();
  for (const each of standing) sums.set(each.consumer, (sums.get(each.consumer) ?? 0) + each.units);
  return [...sums].map(([consumer, units]) => `${count(units)} of ${consumer}`).join(", ");
}

const WHEN = [
  ["at", "It closes at; empty: now"],
  ["until", "It opens again at; empty: when somebody opens it"],
  ["by", "What still runs there is stopped at; empty: each by the grace of its consumer"],
] as const;

/** What is sent to close a host. */
export function closing(reason: string, drain: boolean, times: { at: string; until: string; by: string }): Schemas["CloseBody"] {
  const instant = (text: string): string | null => instantOf(text) || null;
  return { reason, drain, at: instant(times.at), until: instant(times.until), by: drain ? instant(times.by) : null };
}

function CloseDialog({ host, standing, onDone }: { host: Host; standing: readonly Standing[]; onDone: () => void }) {
  const [reason, setReason] = useState("");
  const [isDrain, setDrain] = useState(false);
  const [times, setTimes] = useState({ at: "", until: "", by: "" });
  const who = whoStands(standing);
  return (
    <Dialog
      title={`Close ${nameOf(host)}`}
      action={isDrain ? "Close and drain" : "Close"}
      isDangerous={isDrain}
      onDo={async () => {
        await post("/v1/hosts/{host}/close", { host: host.host }, closing(reason, isDrain, times));
      }}
      onClose={onDone}
    >
      <p>
        Nothing more starts on it. {who ? `On it stand ${who}.` : "Nothing stands on it."}{" "}
        {isDrain
          ? "They get notice, each with the grace of its consumer, and are stopped then; they wait again elsewhere."
          : "They go on until they end."}
      </p>
      <label>
        Why, for everybody
        <input value={reason} required onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      <label class="inline">
        <input type="checkbox" checked={isDrain} onChange={(event) => setDrain(event.currentTarget.checked)} />
        Drain it: also take back what runs there
      </label>
      {WHEN.filter(([name]) => name !== "by" || isDrain).map(([name, label]) => (
        <label key={name}>
          {label}
          <input type="datetime-local" value={times[name]} onInput={(event) => setTimes({ ...times, [name]: event.currentTarget.value })} />
        </label>
      ))}
    </Dialog>
  );
}

function OpenDialog({ host, onDone }: { host: Host; onDone: () => void }) {
  return (
    <Dialog
      title={`Open ${nameOf(host)}`}
      action="Open"
      onDo={async () => {
        await post("/v1/hosts/{host}/open", { host: host.host }, undefined as never);
      }}
      onClose={onDone}
    >
      <p>It may start work again. {host.reason && `It is closed because: ${host.reason}.`} A planned closing is forgotten.</p>
    </Dialog>
  );
}

function HostMap({ hosts, allocations, onChange }: {
  hosts: readonly Host[];
  allocations: readonly Schemas["Allocation"][];
  onChange: () => void;
}) {
  const { query } = route.value;
  const [text, state] = [(query.get("find") ?? "").toLowerCase(), query.get("state") ?? ""];
  const [asked, setAsked] = useState<{ host: Host; isClose: boolean } | null>(null);
  const mayManage = may(useMe().data, "manage_hosts", "/");
  const standing = useMemo(() => byHost(allocations), [allocations]);
  const colours = useMemo(() => coloursOf(allocations), [allocations]);
  const wanted = hosts.filter(
    (host) =>
      (!text || `${nameOf(host)} ${host.labels.join(" ")}`.toLowerCase().includes(text)) && (!state || host.state === state),
  );
  const states = [...new Set(hosts.map((host) => host.state))].sort();
  const done = (): void => {
    setAsked(null);
    onChange();
  };
  return (
    <>
      <div class="tools">
        <label>
          Find <input type="search" value={query.get("find") ?? ""} onInput={(event) => setQuery({ find: event.currentTarget.value })} />
        </label>
        <label>
          State{" "}
          <select value={state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
            <option value="">any</option>
            {states.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <span>{several(wanted.length, "host")}</span>
        <ul class="legend" aria-label="Whose work it is">
          {[...colours].map(([branch, colour]) => (
            <li key={branch} class="swatches">
              <i style={{ "--cell": colour }} /> {branch}
            </li>
          ))}
        </ul>
      </div>
      {wanted.length === 0 && <Empty>No host is like this.</Empty>}
      <div class="hosts">
        {wanted.slice(0, MOST).map((host) => (
          <Card
            key={host.host}
            host={host}
            standing={standing.get(host.host) ?? []}
            colours={colours}
            mayManage={mayManage}
            onClose={() => setAsked({ host, isClose: true })}
            onOpen={() => setAsked({ host, isClose: false })}
          />
        ))}
      </div>
      {wanted.length > MOST && <Empty>And {several(wanted.length - MOST, "more host")}: narrow the list down to see them.</Empty>}
      {asked?.isClose && <CloseDialog host={asked.host} standing={standing.get(asked.host.host) ?? []} onDone={done} />}
      {asked && !asked.isClose && <OpenDialog host={asked.host} onDone={done} />}
    </>
  );
}

/** All hosts: whose work stands on each. */
export function Hosts() {
  useTick(5);
  const live = useLive(async (signal) => {
    const [hosts, held] = await Promise.all([get("/v1/hosts", {}, signal), get("/v1/allocations", {}, signal)]);
    return { hosts: hosts.hosts, allocations: held.allocations };
  }, []);
  return (
    <div class="page">
      <h1>Hosts</h1>
      <Shown live={live}>{(data) => <HostMap {...data} onChange={live.refresh} />}</Shown>
    </div>
  );
}
