import { useMemo } from "preact/hooks";
import { get, type Schemas } from "../api/client";
import { serverNow } from "../lib/clock";
import { amount, count } from "../lib/format";
import { consumerHref, href, route, setQuery } from "../lib/route";
import { historyOf, RANGES } from "../lib/history";
import { lastName, numbersOf, resourcesOf, scaleOf, type Numbers } from "../lib/tree";
import { isOfNumbers } from "../store/consumers";
import { useLive } from "../store/live";
import { Bar, barText, Legend } from "../ui/bar";
import { Chart } from "../ui/chart";
import { Flow } from "../ui/flow";
import { Empty, Facts, Panel, Rest, Shown } from "../ui/states";
import { JobTable } from "./job-table";
import { BudgetLine, WhyConsumer } from "./why-consumer";

function Crumbs({ path }: { path: string }) {
  const names = path.split("/").filter(Boolean);
  return (
    <h1>
      <a href={href("cluster")}>Cluster</a>
      {names.map((name, at) => {
        const above = `/${names.slice(0, at + 1).join("/")}`;
        return (
          <span key={above}>
            {" / "}
            {at < names.length - 1 ? <a href={consumerHref(above)}>{name}</a> : name}
          </span>
        );
      })}
    </h1>
  );
}

function History({ path, resource }: { path: string; resource: string }) {
  const name = route.value.query.get("range") ?? "1h";
  const range = RANGES.find((each) => each.name === name) ?? RANGES[1]!;
  const live = useLive(
    async (signal) => {
      const to = Math.floor(serverNow() / 1000);
      const from = (Math.floor(to / range.step) - Math.floor(range.span / range.step)) * range.step;
      const values = { from: new Date(from * 1000).toISOString(), by: "kind", step: `${range.step}s`, consumer: path };
      const usage = await get("/v1/usage", { ...values, resource: resource || "slots" }, signal);
      return historyOf(usage, from, to, range.step);
    },
    [path, resource, range.name],
    (told) => told.kind !== "CycleRan",
  );
  return (
    <Panel
      title="Over time"
      side={
        <label>
          <span class="visually-hidden">Time</span>
          <select value={range.name} onChange={(event) => setQuery({ range: event.currentTarget.value })}>
            {RANGES.map((each) => (
              <option key={each.name} value={each.name}>
                {each.text}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <Shown live={live}>
        {(found) => (
          <Chart
            label={`What ${path} used over time`}
            times={found.times}
            areas={found.areas}
            lines={found.lines}
            unit={`${resource || "slots"}, mean of each ${range.stepText}`}
          />
        )}
      </Shown>
    </Panel>
  );
}

function Lending({ path, group, resource, numbers }: { path: string; group: string; resource: string; numbers: string }) {
  const live = useLive((signal) => get("/v1/consumers/lending", { consumer: path }, signal), [path, numbers], isOfNumbers);
  const mine = (other: string): boolean => `${other}/`.startsWith(`${path}/`);
  return (
    <Panel title="Who lends to whom now">
      <Shown live={live}>
        {(found) => {
          const all = found.resource_groups[group]?.pairs ?? [];
          const pairs = all.filter((pair) => pair.resource === (resource || "slots"));
          const [from, to, inside] = [
            pairs.filter((pair) => mine(pair.borrower) && !mine(pair.lender)),
            pairs.filter((pair) => mine(pair.lender) && !mine(pair.borrower)),
            pairs.filter((pair) => mine(pair.lender) && mine(pair.borrower)),
          ];
          const parts = [["It borrows", from], ["It lends", to], ["Among those below it", inside]] as const;
          return (
            <>
              {pairs.length === 0 && <p>It lends nothing and borrows nothing.</p>}
              {parts.map(([title, some]) =>
                some.length > 0 ? (
                  <div key={title}>
                    <p>
                      {title} {count(some.reduce((sum, pair) => sum + amount(pair.units), 0))}:
                    </p>
                    <Flow pairs={some} mine={mine} />
                  </div>
                ) : null,
              )}
            </>
          );
        }}
      </Shown>
    </Panel>
  );
}

function Users({ users, limit }: { users: Record<string, number>; limit: number | null }) {
  const rows = Object.entries(users).sort((a, b) => b[1] - a[1]);
  if (!rows.length) return null;
  return (
    <Panel title="Users" side={limit !== null && <small>at most {count(limit)} each</small>}>
      <table class="plain">
        <tbody>
          {rows.slice(0, 20).map(([user, units]) => (
            <tr key={user}>
              <td>
                <a href={href("jobs", "", { user })}>{user}</a>
              </td>
              <td class="number">{count(units)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Rest all={rows.length} shown={20} />
    </Panel>
  );
}

function numbersFacts(numbers: Numbers, consumer: Schemas["Consumer"]) {
  return [
    { name: "Owns", value: count(numbers.owned), note: consumer.reserved ? `${count(consumer.reserved)} never lent` : "" },
    { name: "Has", value: count(numbers.allocated), note: `${count(consumer.running)} attempts run` },
    { name: "Borrowed", value: count(numbers.borrowed) },
    { name: "Lent out", value: count(numbers.lent) },
    { name: "Under notice", value: count(numbers.reclaiming), note: consumer.coming ? `${count(consumer.coming)} on their way to it` : "" },
    { name: "Waits for", value: count(numbers.waiting) },
    { name: "Quota", value: count(numbers.entitled), note: numbers.limit === null ? "no limit" : `limit ${count(numbers.limit)}` },
  ];
}

function Whole({ groups, path }: { groups: Record<string, Schemas["Group"]>; path: string }) {
  const { query } = route.value;
  const mine = Object.entries(groups).filter(([, group]) => group.consumers.some((each) => each.path === path));
  const [name, group] = mine.find(([each]) => each === query.get("group")) ?? mine[0] ?? ["", undefined];
  const resources = group ? resourcesOf(group) : [];
  const resource = resources.find((each) => each === query.get("resource")) ?? resources[0] ?? "";
  const rows = useMemo(() => group?.consumers.map((each) => numbersOf(each, resource)) ?? [], [group, resource]);
  const consumer = group?.consumers.find((each) => each.path === path);
  const numbers = rows.find((row) => row.path === path);
  if (!group || !consumer || !numbers) {
    return (
      <Empty>
        The plan in force has no consumer {path}. <a href={href("cluster", "", { find: lastName(path) })}>Find it</a>
      </Empty>
    );
  }
  return (
    <>
      <div class="tools">
        {mine.length > 1 && (
          <label>
            Group{" "}
            <select value={name} onChange={(event) => setQuery({ group: event.currentTarget.value })}>
              {mine.map(([each]) => (
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
        <span>
          <a href={href("what-if", "", { consumer: path })}>What if it owned more?</a>
        </span>
        <Legend />
      </div>
      <Facts facts={numbersFacts(numbers, consumer)} />
      <Bar numbers={numbers} scale={Math.max(scaleOf([numbers]), numbers.owned + numbers.borrowed + numbers.waiting)} />
      <div class="columns spaced">
        <Panel title="Why this quota">
          <WhyConsumer path={path} group={name} numbers={`${barText(numbers)} ${numbers.entitled}`} />
        </Panel>
        <div>
          <History path={path} resource={resource} />
          <Lending path={path} group={name} resource={resource} numbers={barText(numbers)} />
          {consumer.budget && (
            <Panel title="Budget">
              <BudgetLine budget={consumer.budget} />
            </Panel>
          )}
          <Users users={consumer.users} limit={consumer.user_limit} />
        </div>
      </div>
    </>
  );
}

/** One consumer: its numbers, why they are what they are, whom it lends to, its jobs. */
export function ConsumerPage() {
  const path = `/${route.value.rest}`;
  const live = useLive((signal) => get("/v1/consumers", { consumer: path }, signal), [path], isOfNumbers);
  return (
    <div class="page" key={path}>
      <Crumbs path={path} />
      <Shown live={live}>{(data) => <Whole groups={data.resource_groups} path={path} />}</Shown>
      <Panel title="Jobs" side={<a href={href("jobs", "", { consumer: path })}>All of them</a>}>
        <JobTable filter={{ consumer: path }} isShort />
      </Panel>
    </div>
  );
}
