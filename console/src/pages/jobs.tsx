import { useCallback } from "preact/hooks";
import { href, route, setQuery } from "../lib/route";
import { nextOrder, orderOf } from "../lib/sorting";
import { Typed } from "../ui/typed";
import { JobTable } from "./job-table";
import { JobPage } from "./job";

const STATES = ["", "waiting", "blocked", "held", "running", "done", "failed", "cancelled"];

function Listing() {
  const { query } = route.value;
  const order = orderOf(query.get("order") ?? "");
  const sort = useCallback((key: string) => {
    setQuery({ order: nextOrder(orderOf(route.value.query.get("order") ?? ""), key) });
  }, []);
  const filter = {
    consumer: query.get("consumer") ?? "",
    state: query.get("state") ?? "",
    user: query.get("user") ?? "",
    text: query.get("text") ?? "",
    all: query.get("all") === "1",
  };
  return (
    <div class="page whole">
      <h1>Jobs</h1>
      <div class="tools">
        <Typed name="text" label="Find" />
        <Typed name="consumer" label="Consumer" />
        <Typed name="user" label="User" />
        <label>
          State{" "}
          <select value={filter.state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
            {STATES.map((state) => (
              <option key={state} value={state}>
                {state || "any"}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={filter.all}
            onChange={(event) => setQuery({ all: event.currentTarget.checked ? "1" : "" })}
          />{" "}
          ended ones, too
        </label>
        <a href={href("jobs")}>Clear</a>
      </div>
      <JobTable filter={filter} order={order} onSort={sort} />
    </div>
  );
}

/** All jobs, or one. */
export function JobsPage() {
  const { rest } = route.value;
  return rest ? <JobPage key={rest} name={rest} /> : <Listing />;
}
