import { useMemo, useRef, useState } from "preact/hooks";
import { get, type Schemas } from "../api/client";
import { serverNow } from "../lib/clock";
import { ago, amount, count, duration, several } from "../lib/format";
import { consumerHref, href, route, setQuery } from "../lib/route";
import { closedAtFirst, lastName, numbersOf, resourcesOf, scaleOf, shownRows, type Numbers } from "../lib/tree";
import { isOfNumbers, readConsumers } from "../store/consumers";
import { useLive, useTick } from "../store/live";
import { Bar, barText, Legend } from "../ui/bar";
import { Empty, Facts, Shown, type Fact } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { Why } from "../ui/why";
import { WhyConsumer } from "./why-consumer";

const CAUSES: Record<string, string> = {
  JobSubmitted: "a job was submitted",
  TaskEnded: "a task ended",
  MachineReported: "a host came",
  MachineSilent: "a host went",
  PlanChanged: "the plan changed",
  Tick: "time went by",
};

function hostsFact(hosts: Schemas["HostsStatus"]): Fact {
  const not = hosts.others.map((each) => `${count(each.count)} ${each.state}: ${each.hosts.join(", ")}`);
  return {
    name: "Hosts up",
    value: <a href={href("hosts")}>{`${count(hosts.up)} of ${count(hosts.all)}`}</a>,
    note: not.join("; ") || "none is missing",
  };
}

function cycleFact(cycle: Schemas["CycleRow"] | null): Fact {
  if (!cycle) return { name: "Last cycle", value: "–", note: "none has run" };
  const did = [
    cycle.granted && `granted ${count(cycle.granted)}`,
    cycle.reclaimed && `took ${count(cycle.reclaimed)} back`,
    cycle.withdrawn && `withdrew ${several(cycle.withdrawn, "notice")}`,
  ].filter(Boolean);
  return {
    name: "Last cycle",
    value: did.join(", ") || "changed nothing",
    note: `${ago(cycle.at)}, because ${CAUSES[cycle.cause] ?? cycle.cause}; ${(cycle.seconds * 1000).toFixed(1)} ms`,
  };
}

function factsOf(status: Schemas["Status"]): Fact[] {
  const facts: Fact[] = Object.entries(status.resource_groups).flatMap(([name, group]) =>
    Object.entries(group.slots ? { slots: group.slots } : (group.resources ?? {})).map(([what, share]) => ({
      name: `${what} of ${name} in use`,
      value: `${count(amount(share.used))} of ${count(amount(share.total))}`,
      note: `${count(amount(share.total) - amount(share.used))} idle`,
    })),
  );
  const { waiting, reclaiming } = status;
  const oldest = waiting.oldest && `the oldest for ${duration((serverNow() - Date.parse(waiting.oldest.submitted)) / 1000)}`;
  return [
    ...facts,
    {
      name: "Waiting",
      value: <a href={href("jobs", "", { state: "waiting" })}>{several(waiting.tasks, "task")}</a>,
      note: waiting.tasks ? `of ${several(waiting.jobs, "job")}; ${oldest ?? ""}` : "nobody waits",
    },
    {
      name: "Under notice",
      value: several(reclaiming.units, "unit"),
      note: reclaiming.next ? `next back ${ago(reclaiming.next)}` : "nothing is taken back",
    },
    hostsFact(status.hosts),
    cycleFact(status.cycle),
  ];
}

function Strip() {
  useTick(5);
  const live = useLive((signal) => get("/v1/status", {}, signal), []);
  return (
    <Shown live={live}>
      {(status) => (
        <>
          {status.service.state !== "ok" && (
            <p class="lost" role="alert">
              The service is {status.service.state}. {status.service.trouble}
            </p>
          )}
          <Facts facts={factsOf(status)} />
          <p class="under">
            Plan {status.plan.version} by {status.plan.author}, {ago(status.plan.at)}
            {status.plan.until && `, until the one before comes back ${ago(status.plan.until)}`}
            {status.plan.comment && `: ${status.plan.comment}`}
            {status.service.term > 0 && `. ${status.service.leader} leads, term ${status.service.term}`}
          </p>
        </>
      )}
    </Shown>
  );
}

interface Shape {
  scale: number;
  group: string;
  closed: ReadonlySet<string>;
  toggle: (path: string) => void;
}

function columnsOf({ scale, group, closed, toggle }: Shape): Column<Numbers>[] {
  const number = (key: keyof Numbers, head: string, isMinor = false): Column<Numbers> => ({
    key,
    head,
    width: "5.2rem",
    isNumber: true,
    isMinor,
    cell: (row) => (row[key] ? count(row[key] as number) : <span class="nil">{row[key] === 0 ? "0" : "–"}</span>),
  });
  return [
    {
      key: "path",
      head: "consumer",
      width: "minmax(9rem, 15rem)",
      cell: (row) => (
        <span class="tree" style={{ paddingLeft: `${row.depth * 1.1}rem` }}>
          {row.leaf ? (
            <span class="twig" />
          ) : (
            <button
              type="button"
              class="twig"
              aria-expanded={!closed.has(row.path)}
              aria-label={`What is below ${row.path}`}
              onClick={() => toggle(row.path)}
            >
              {closed.has(row.path) ? "▸" : "▾"}
            </button>
          )}
          <a href={consumerHref(row.path)}>{lastName(row.path)}</a>
        </span>
      ),
    },
    { key: "bar", head: <span class="visually-hidden">as a bar</span>, width: "minmax(10rem, 1fr)", cell: (row) => <Bar numbers={row} scale={scale} /> },
    number("owned", "owns"),
    number("allocated", "has"),
    number("borrowed", "borrowed", true),
    number("lent", "lent", true),
    number("reclaiming", "notice", true),
    number("waiting", "waits"),
    {
      key: "entitled",
      head: "quota",
      width: "5.2rem",
      isNumber: true,
      cell: (row) => (
        <Why what={`the quota of ${row.path} is ${count(row.entitled)}`} value={count(row.entitled)}>
          {() => <WhyConsumer path={row.path} group={group} numbers={`${barText(row)} ${row.entitled}`} />}
        </Why>
      ),
    },
    number("limit", "limit", true),
  ];
}

/** Numbers of a consumer, which are made anew only where it is another object. */
function numbersOnce(known: WeakMap<Schemas["Consumer"], Numbers>, consumer: Schemas["Consumer"], resource: string): Numbers {
  let found = known.get(consumer);
  if (!found) known.set(consumer, (found = numbersOf(consumer, resource)));
  return found;
}

function Tree({ name, group, resource }: { name: string; group: Schemas["Group"]; resource: string }) {
  const known = useRef(new WeakMap<Schemas["Consumer"], Numbers>());
  const rows = useMemo(() => group.consumers.map((each) => numbersOnce(known.current, each, resource)), [group]);
  const [closed, setClosed] = useState(() => closedAtFirst(rows));
  const text = route.value.query.get("find") ?? "";
  const shown = useMemo(() => shownRows(rows, closed, text), [rows, closed, text]);
  const scale = useMemo(() => scaleOf(rows), [rows]);
  const toggle = (path: string): void =>
    setClosed((was) => {
      const next = new Set(was);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  const columns = useMemo(() => columnsOf({ scale, group: name, closed, toggle }), [scale, name, closed]);
  return (
    <Table
      label={`Consumers of ${name}`}
      columns={columns}
      rows={shown}
      rowKey={(row) => row.path}
      rowClass={(row) => (row.depth === 0 ? "top" : "")}
      empty={<Empty>{text ? `No consumer has “${text}” in its path.` : "The plan has no consumers here."}</Empty>}
    />
  );
}

function Groups({ groups }: { groups: Record<string, Schemas["Group"]> }) {
  const { query } = route.value;
  const names = Object.keys(groups);
  const name = names.find((each) => each === query.get("group")) ?? names[0];
  const group = name === undefined ? undefined : groups[name];
  if (name === undefined || !group) return <Empty>No policy of the plan shares a resource group.</Empty>;
  const resources = resourcesOf(group);
  const resource = resources.find((each) => each === query.get("resource")) ?? resources[0] ?? "";
  const { grants, reclaims } = group.paused;
  return (
    <>
      <div class="tools">
        <label>
          Find <input type="search" value={query.get("find") ?? ""} onInput={(event) => setQuery({ find: event.currentTarget.value })} />
        </label>
        {names.length > 1 && (
          <label>
            Group{" "}
            <select value={name} onChange={(event) => setQuery({ group: event.currentTarget.value })}>
              {names.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        )}
        {resources.length > 1 && (
          <label>
            Resource{" "}
            <select value={resource} onChange={(event) => setQuery({ resource: event.currentTarget.value })}>
              {resources.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        )}
        <Legend />
      </div>
      {(grants || reclaims) && (
        <p class="lost">
          {name} is paused: {[grants && "nothing is granted", reclaims && "nothing is taken back"].filter(Boolean).join(", ")}.
        </p>
      )}
      <Tree key={`${name} ${resource}`} name={name} group={group} resource={resource} />
    </>
  );
}

/** The whole cluster on one screen. */
export function Cluster() {
  const live = useLive(readConsumers, [], isOfNumbers);
  return (
    <div class="page whole">
      <h1>Cluster</h1>
      <Strip />
      <Shown live={live}>{(groups) => <Groups groups={groups} />}</Shown>
    </div>
  );
}
