import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { href, route } from "../lib/route";
import { may, maySomewhere, type Me } from "../store/me";
import { Cluster } from "./cluster";

type Load = () => Promise<FunctionComponent>;

interface Entry {
  name: string;
  title: string;
  letter: string;
  about: string;
  /** Another page below the same entry. */
  also?: string;
  /** Permission for the whole cluster, without which the page shows nothing. */
  needs?: string;
  /** A permission that is enough for some part of the cluster, too. */
  orSomewhere?: string;
}

export const PAGES: readonly Entry[] = [
  { name: "cluster", title: "Cluster", letter: "c", about: "Who owns, uses, borrows and waits", also: "consumers" },
  { name: "jobs", title: "Jobs", letter: "j", about: "What runs, what waits and why" },
  { name: "hosts", title: "Hosts", letter: "h", about: "Who stands where" },
  { name: "plan", title: "Plan", letter: "p", about: "Read, change, compare, revert", needs: "view", orSomewhere: "edit_plan" },
  { name: "what-if", title: "What if", letter: "i", about: "Other numbers, the same demand", needs: "view" },
  { name: "usage", title: "Usage", letter: "u", about: "Hours by consumer and user" },
  { name: "windows", title: "Windows", letter: "w", about: "When another part of the plan holds", needs: "view" },
  { name: "events", title: "Events", letter: "e", about: "What happened" },
  { name: "audit", title: "Audit", letter: "a", about: "Who did what, and what was refused", needs: "read_audit" },
];

/** Pages that have something to show to somebody. */
export function offered(me: Me | null): readonly Entry[] {
  return PAGES.filter(({ needs, orSomewhere }) => !needs || may(me, needs, "/") || (orSomewhere && maySomewhere(me, orSomewhere)));
}

const LAZY: Record<string, Load> = {
  consumers: () => import("./consumer").then((found) => found.ConsumerPage),
  jobs: () => import("./jobs").then((found) => found.JobsPage),
  hosts: () => import("./hosts").then((found) => found.Hosts),
  plan: () => import("./plan").then((found) => found.PlanPage),
  "what-if": () => import("./what-if").then((found) => found.WhatIf),
  usage: () => import("./usage").then((found) => found.Usage),
  windows: () => import("./windows").then((found) => found.Windows),
  events: () => import("./events").then((found) => found.Events),
  audit: () => import("./audit").then((found) => found.Audit),
};

function Missing(): ComponentChildren {
  return (
    <>
      <h1>No such page</h1>
      <p>
        There is nothing at this address. <a href={href("cluster")}>To the cluster</a>
      </p>
    </>
  );
}

/** The page of the address; all but the first are loaded when they are asked for. */
export function Page() {
  const { page, rest } = route.value;
  const [loaded, setLoaded] = useState<Record<string, FunctionComponent>>({ cluster: Cluster });
  const [failed, setFailed] = useState("");
  useEffect(() => {
    const load = LAZY[page];
    if (!load || loaded[page]) return;
    load().then(
      (found) => setLoaded((was) => ({ ...was, [page]: found })),
      () => setFailed(page),
    );
  }, [page]);
  useEffect(() => {
    const title = PAGES.find((each) => each.name === page || each.also === page)?.title ?? "Fairhold";
    document.title = `${rest ? `${rest} – ` : ""}${title} – Fairhold`;
  }, [page, rest]);
  const Found = loaded[page];
  if (Found) return <Found key={page} />;
  if (failed === page) return <p class="trouble">This part of the console could not be loaded. Load the page again.</p>;
  return LAZY[page] ? <div class="loading" aria-busy="true" /> : <Missing />;
}
