import { describe, expect, it } from "vitest";
import type { Schemas } from "../src/api/client";
import { gains, stopsOf, stopTimes, type DiffDocument } from "../src/lib/effect";
import { decodeDraft, encodeDraft } from "../src/lib/draft";
import { layOut } from "../src/lib/flow";
import { keysAt, placeOf, valuesAt } from "../src/lib/plan-words";
import { may } from "../src/store/me";
import { eventText } from "../src/lib/events";
import { historyOf } from "../src/lib/history";
import { branchOf, byHost, coloursOf } from "../src/lib/hosts";
import { nextOrder, orderOf } from "../src/lib/sorting";
import { sumsOf, usageCsv } from "../src/lib/usage";
import { actionText, instantOf, localOf, targetText } from "../src/lib/audit";
import { changesOf, knobsOf, valueOf, withChange } from "../src/lib/what-if";
import { offered } from "../src/pages";
import { closing } from "../src/pages/hosts";
import { startText } from "../src/pages/job-table";
import { secondsUntil } from "../src/pages/what-if";
import { patched, type Groups } from "../src/store/consumers";
import { restText } from "../src/ui/states";
import { placed } from "../src/ui/time-marks";
import { attemptOf } from "../src/pages/job";
import { consequence, mayChange } from "../src/pages/job-actions";
import { chosen } from "../src/pages/job-notify";
import { withoutRule } from "../src/pages/why-consumer";
import { joined } from "../src/store/pages";
import { stacked } from "../src/ui/chart";
import { attemptText, spanOf } from "../src/ui/timeline";

const usage = (rows: Record<string, string>[], by: string[]): Schemas["Usage"] => ({
  from: "2026-01-05T09:00:00Z", to: "2026-01-05T10:00:00Z", by, rows,
  capacity: [], capacity_from: null, capacity_whole: false, dominant: [], balance: [],
});

describe("usage", () => {
  it("is hours by name, who held most first", () => {
    const rows = [
      { user: "ann", kind: "own", resource: "slots", unit: "", resource_seconds: "3600" },
      { user: "bob", kind: "borrowed", resource: "slots", unit: "", resource_seconds: "7200" },
      { user: "ann", kind: "lost", resource: "slots", unit: "", resource_seconds: "36000" },
    ];
    const found = sumsOf(usage(rows, ["user", "kind"]), "user");
    expect(found.map((each) => [each.name, each.own, each.borrowed, each.lost])).toEqual([["bob", 0, 2, 0], ["ann", 1, 0, 10]]);
  });
  it("as a table keeps the exact numbers", () => {
    const rows = [{ user: "ann", kind: "own", resource: "slots", unit: "", resource_seconds: "0.000001" }];
    expect(usageCsv(usage(rows, ["user", "kind"]))[1]).toContain("0.000001");
  });
  it("over time is the mean of each part", () => {
    const row = { kind: "own", resource: "slots", unit: "", resource_seconds: "30", from: "2026-01-05T09:00:10Z", to: "2026-01-05T09:00:20Z" };
    const from = Date.parse("2026-01-05T09:00:00Z") / 1000;
    const found = historyOf(usage([row, { ...row, kind: "lost" }], ["kind"]), from, from + 30, 10);
    expect(found.areas[0]!.values).toEqual([0, 3, 0]);
    expect(found.times).toEqual([from, from + 10, from + 20]);
  });
});

describe("areas", () => {
  it("stand on one another", () => {
    const series = [1, 2].map((value) => ({ name: "", colour: "", values: [value, value] }));
    expect(stacked(series)).toEqual([[1, 1], [3, 3]]);
  });
});

describe("flows", () => {
  const pair = (lender: string, borrower: string, units: number) => ({ lender, borrower, units, resource: "slots" });
  it("have every lender and borrower once, with all of their pairs", () => {
    const { lenders, borrowers, bands, more } = layOut([pair("/A", "/X", 1), pair("/A", "/Y", 3), pair("/", "/X", 2)], 20);
    expect(lenders).toEqual([{ path: "/A", units: 4 }, { path: "/", units: 2 }]);
    expect(borrowers).toEqual([{ path: "/Y", units: 3 }, { path: "/X", units: 3 }]);
    expect([bands.length, more]).toEqual([3, 0]);
  });
  it("leave the smallest out where there are many", () => {
    const many = Array.from({ length: 20 }, (_, at) => pair(`/L${at}`, "/X", at + 1));
    const { lenders, more } = layOut(many, 20);
    expect([lenders[0]!.path, lenders.length, more]).toEqual(["/L19", 14, 6]);
  });
});

describe("what a change stops", () => {
  it("is told by instants, the first one first, without what stops anyway", () => {
    const stop = (consumer: string, units: number, deadline: string, anyway = 0) => ({ consumer, units, for: "/A", anyway, deadline });
    const stops = [stop("/B", 2, "2026-01-05T10:00:00Z"), stop("/C", 3, "2026-01-05T09:00:00Z", 1), stop("/D", 1, "2026-01-05T10:00:00Z"), stop("/E", 1, "2026-01-05T08:00:00Z", 1)];
    const diff: DiffDocument = { summary: { values: 1 }, resource_groups: {}, reclaims: { added: [], removed: [] }, over_time: { stops } };
    const found = stopTimes(diff);
    expect(found.map((each) => each.units)).toEqual([2, 3]);
    expect(found[1]!.text).toBe("2 of /B for /A, 1 of /D for /A");
  });
  it("stands on a line as far from now as it is", () => {
    const marks = [{ at: 1000, units: 4, text: "" }, { at: 5000, units: 1, text: "" }];
    expect(placed(marks, 1000).map((each) => each.left)).toEqual([0, 100]);
    expect(placed(marks, 1000)[0]!.size).toBe(16);
  });
});

describe("instants", () => {
  it("of a day are those to come", () => {
    const noon = new Date(2026, 0, 5, 12).getTime();
    expect(secondsUntil(22, noon)).toBe(10 * 3600);
    expect(secondsUntil(8, noon)).toBe(20 * 3600);
  });
  it("of a closing are sent where somebody said them", () => {
    expect(closing("memory", false, { at: "", until: "2026-01-05T10:00", by: "2026-01-05T09:00" })).toEqual({
      reason: "memory", drain: false, at: null, until: new Date(2026, 0, 5, 10).toISOString(), by: null,
    });
  });
  it("of a start are told about", () => {
    const now = Date.parse("2026-01-05T09:00:00Z");
    expect(startText(null, now)).toBe("");
    expect(startText("2026-01-05T08:59:00Z", now)).toBe("it may start any moment");
    expect(startText("2026-01-05T09:20:31Z", now)).toMatch(/^until about (.* )?\d\d:20$/);
  });
});

describe("consumers that differ", () => {
  it("take the place of those that were seen, and the others stay the same objects", () => {
    const group = (consumers: object[]) => ({ compute: { slots: 4, consumers } }) as unknown as Groups;
    const before = group([{ path: "/A", waiting: 1 }, { path: "/B", waiting: 2 }]);
    const found = patched(before, group([{ path: "/B", waiting: 3 }]));
    expect(found.compute!.consumers.map((each) => each.waiting)).toEqual([1, 3]);
    expect(found.compute!.consumers[0]).toBe(before.compute!.consumers[0]);
    expect(patched(before, group([])).compute!.consumers).toBe(before.compute!.consumers);
  });
});

describe("drafts", () => {
  it("come back from an address as they went into it", async () => {
    const text = `# who owns what\nconsumers: {Ärzte: {}}\n${"/Trading: {owned: 8}\n".repeat(200)}`;
    const written = await encodeDraft({ version: 7, text });
    expect(written).toMatch(/^7\.[A-Za-z0-9_-]+$/);
    expect(written.length).toBeLessThan(300);
    expect(await decodeDraft(`#draft=${written}`)).toEqual({ draft: { version: 7, text }, isDamaged: false });
    expect(await decodeDraft("")).toEqual({ draft: null, isDamaged: false });
  });
  it("are told from links that were damaged on their way", async () => {
    const damaged = { draft: null, isDamaged: true };
    const written = await encodeDraft({ version: 7, text: "policies: []\n" });
    for (const cut of [written.slice(0, -3), "7.nonsense", "7.", ""]) expect(await decodeDraft(`#draft=${cut}`), cut).toEqual(damaged);
  });
});

describe("words of a plan", () => {
  const schema = {
    properties: { policies: { items: { $ref: "#/$defs/entry" } } },
    $defs: {
      entry: { properties: { policy: { enum: ["hybrid", "ownership"] }, consumers: { additionalProperties: { $ref: "#/$defs/numbers" } } } },
      numbers: { allOf: [{ properties: { owned: { description: "Guaranteed.", type: "integer" }, limit: {} } }] },
    },
  };
  it("are the keys that may stand at a place", () => {
    expect(keysAt(schema, []).map((each) => each.name)).toEqual(["policies"]);
    expect(keysAt(schema, ["policies", 0, "consumers", "/Trading"]).map((each) => each.name)).toEqual(["owned", "limit"]);
    expect(keysAt(schema, ["policies", 0, "consumers", "/Trading"])[0]!.about).toBe("Guaranteed.");
    expect(keysAt(schema, ["nowhere"])).toEqual([]);
  });
  it("are values where only some may stand there", () => {
    expect(valuesAt(schema, ["policies", 0, "policy"])).toEqual(["hybrid", "ownership"]);
    expect(valuesAt(schema, ["policies"])).toEqual([]);
  });
  it("are asked for by indentation and braces", () => {
    const text = "policies:\n  - policy: hybrid\n    consumers:\n      /A: {owned: 1}\n      /B:\n        ow";
    expect(placeOf(text)).toEqual(["policies", 0, "consumers", "/B"]);
    expect(placeOf("policies:\n  - policy: hybrid\n    consumers:\n      /A: {owned: 1, li")).toEqual(["policies", 0, "consumers", "/A"]);
    expect(placeOf("a: 1\nco")).toEqual([]);
  });
});

describe("rights", () => {
  const me = { permissions: { submit: ["/Research"], view: ["/"] } } as unknown as Schemas["Me"];
  it("hold for a consumer and all below it", () => {
    expect(may(me, "submit", "/Research/Models")).toBe(true);
    expect(may(me, "submit", "/ResearchX")).toBe(false);
    expect(may(me, "view", "/Trading")).toBe(true);
    expect(may(me, "edit_plan", "/Research")).toBe(false);
    expect(may(null, "view", "/")).toBe(false);
  });
  it("decide which pages are offered", () => {
    const names = (permissions: Record<string, string[]>): string[] => offered({ permissions } as unknown as Schemas["Me"]).map((page) => page.name);
    expect(names({ view: ["/Research"] })).toEqual(["cluster", "jobs", "hosts", "usage", "events"]);
    expect(names({ view: ["/Research"], edit_plan: ["/Research"] })).toContain("plan");
    expect(names({ view: ["/"] })).toEqual(expect.arrayContaining(["plan", "what-if", "windows"]));
    expect(names({ view: ["/"] })).not.toContain("audit");
  });
});

describe("an effect", () => {
  const diff: DiffDocument = {
    summary: { values: 1 },
    resource_groups: { compute: { consumers: { "/": { quota: [9, 9] }, "/A": { quota: [4, 6] }, "/B": { quota: [5, 3] }, "/C": { limit: [null, 3] } } } },
    reclaims: { added: [{ consumer: "/B", units: 2, for: "/A" }], removed: [] },
  };
  it("begins with who loses most", () => {
    expect(gains(diff.resource_groups.compute!).map(([path]) => path)).toEqual(["/B", "/C", "/A"]);
  });
  it("counts only what the new plan alone stops", () => {
    const stops = [{ consumer: "/B", units: 3, for: "/A", anyway: 1 }, { consumer: "/C", units: 1, for: null, anyway: 1 }];
    expect(stopsOf({ ...diff, over_time: { stops } })).toEqual([{ consumer: "/B", units: 2, for: ["/A"] }]);
    expect(stopsOf(diff)[0]!.units).toBe(2);
  });
});

describe("changes of numbers", () => {
  const content = {
    entries: [{ keys: ["owned", "limit"] }], groups: { compute: { slots: 8 } },
    consumers: [{ path: "/A", stated: [{ owned: 2 }], demand: { demand: 40 } }],
  } as unknown as Schemas["Explorable"];
  const [owned, limit, demand] = knobsOf(content, "/A");
  it("are of what the plan says and of what is wanted", () => {
    expect([owned, limit, demand].map((knob) => [knob?.key, knob?.value])).toEqual([["owned", 2], ["limit", 8], ["demand", 40]]);
    expect([owned!.isUnset, limit!.isUnset]).toEqual([false, true]);
    expect(knobsOf(content, "/B")).toEqual([]);
  });
  it("have no limit of slots where resources of hosts are shared", () => {
    const stated = [{ "deserved.gpu": 4 }];
    const queues = { ...content, groups: { train: {} }, consumers: [{ path: "/A", stated, demand: {} }] };
    expect(knobsOf(queues as Schemas["Explorable"], "/A").map((knob) => knob.key)).toEqual(["deserved.gpu"]);
  });
  it("take the place of earlier ones of the same number, and go when it is as it was", () => {
    const once = withChange(withChange([], owned!, 3), demand!, 5);
    expect(withChange(once, owned!, 4)).toEqual(["/A:demand=5", "/A:owned=4"]);
    expect(withChange(once, owned!, 2)).toEqual(["/A:demand=5"]);
    expect([valueOf(once, owned!), valueOf(once, limit!)]).toEqual([3, 8]);
    expect(changesOf(once.join("\n"))).toEqual(once);
  });
});

describe("hosts", () => {
  const held = (consumer: string, attempt: number, host: string): Schemas["Allocation"] =>
    ({ consumer, attempt, host, job: "1", task: 0, units: 1, deadline: null, for: null }) as unknown as Schemas["Allocation"];
  it("have on them who stands there, side by side", () => {
    const found = byHost([held("/B/X", 2, ""), held("/A", 3, ""), held("/B/X", 1, "g1")]);
    expect(found.get("-")!.map((each) => each.consumer)).toEqual(["/A", "/B/X"]);
    expect(found.get("g1")!.map((each) => each.branch)).toEqual(["B"]);
  });
  it("have a colour for each department, the same whoever comes first", () => {
    const [first, second] = [[held("/B", 1, ""), held("/A", 2, "")], [held("/A", 2, ""), held("/B", 1, "")]];
    expect(coloursOf(first)).toEqual(coloursOf(second));
    expect(branchOf("/A/B")).toBe("A");
  });
});

describe("records", () => {
  const entry = (changes: Partial<Schemas["Record"]>): Schemas["Record"] => ({
    seq: 1, at: "2026-01-05T09:00:00Z", user: "ben", via: "token 1", origin: "127.0.0.1", action: "submit_job", target: "7",
    outcome: "done", detail: {}, before: "", hash: "", ...changes,
  });
  it("say what was done, and to what", () => {
    expect(actionText("submit_job")).toBe("submit job");
    expect(actionText("")).toBe("ask");
    expect(targetText(entry({ detail: { for: "ada" } }))).toBe("7, for: ada");
    expect(targetText(entry({ target: "", detail: { count: 4 } }))).toBe("count: 4");
  });
  it("are looked for by times that are the same for a colleague", () => {
    const instant = instantOf("2026-01-05T09:00");
    expect(localOf(instant)).toBe("2026-01-05T09:00");
    expect([instantOf(""), localOf(""), localOf("nonsense")]).toEqual(["", "", ""]);
  });
});

describe("orders", () => {
  it("go up, down and back", () => {
    expect(nextOrder(orderOf(""), "job")).toBe("job");
    expect(nextOrder(orderOf("job"), "job")).toBe("-job");
    expect(nextOrder(orderOf("-job"), "job")).toBe("");
  });
  it("keep rows behind those that were read anew, each once", () => {
    expect(joined(["9", "7"], ["9", "8", "7", "6"], 2, (row) => row)).toEqual(["9", "7", "6"]);
  });
});

describe("attempts", () => {
  it("are named by addresses", () => {
    expect([attemptOf("3/2"), attemptOf("3"), attemptOf(null)]).toEqual([{ task: 3, number: 2 }, null, null]);
  });
  const attempt = (changes: Partial<Schemas["Attempt"]>): Schemas["Attempt"] => ({
    attempt: 1, number: 2, host: "g1", units: 1, state: "again", reason: "reclaim", code: null, signal: 15, detail: "",
    started: "2026-01-05T09:00:00Z", ended: "2026-01-05T09:00:30Z", deadline: "2026-01-05T09:01:00Z", for: "/A", ...changes,
  });
  it("say for whom they were taken back", () => {
    expect(attemptText(attempt({}), 0)).toBe("attempt 2, again, 30 s, on g1, taken back for /A");
    expect(attemptText(attempt({ ended: null, state: "running" }), Date.parse("2026-01-05T09:00:05Z"))).toContain("under notice for /A");
  });
  it("span the time from the first to now, deadlines too", () => {
    const now = Date.parse("2026-01-05T09:00:40Z");
    const [from, to] = spanOf([{ task: 0, state: "running", attempts: [attempt({ ended: null })] }], now);
    expect(from).toBe(Date.parse("2026-01-05T09:00:00Z"));
    expect(to).toBeGreaterThan(Date.parse("2026-01-05T09:01:00Z"));
  });
});

describe("words", () => {
  it("say how much of a list is not shown", () => {
    expect([restText(1212, 12), restText(13, 12), restText(12, 12), restText(0, 12)]).toEqual(["and 1,200 more", "and 1 more", "", ""]);
  });
  it("say whom a cancel stops", () => {
    const job = { user: "ann", tasks: { running: 2, waiting: 3, delayed: 1 }, consumer: "/A" } as unknown as Schemas["Job"];
    expect(consequence("cancel", job)).toContain("2 running tasks of ann");
    expect(consequence("cancel", job)).toContain("4 waiting tasks");
  });
  it("say what every other action does, and to whom", () => {
    const tasks = { running: 2, waiting: 3, delayed: 1 };
    const job = { user: "ann", tasks, consumer: "/A", resource_group: "compute" } as unknown as Schemas["Job"];
    expect(consequence("hold", job)).toMatch(/until it is released: 4 tasks\. What runs goes on: 2/);
    expect(consequence("release", job)).toContain("4 tasks may start again");
    expect(consequence("requeue", job)).toContain("2 running tasks of ann");
    expect(consequence("move", job)).toContain("another consumer of compute");
    expect(consequence("priority", job)).toContain("Inside /A");
  });
  it("offer an action on a job to its owner and to who manages jobs there", () => {
    const job = { user: "ann", consumer: "/A" } as unknown as Schemas["Job"];
    const who = (user: string, permissions: Record<string, string[]>) => ({ user, permissions }) as unknown as Schemas["Me"];
    expect(mayChange(who("ann", { submit: ["/A"] }), job)).toBe(true);
    expect(mayChange(who("ben", { submit: ["/A"] }), job)).toBe(false);
    expect(mayChange(who("ben", { manage_jobs: ["/"] }), job)).toBe(true);
    expect(mayChange(null, job)).toBe(false);
  });
  it("keep the rule apart from the sentence", () => {
    expect(withoutRule("It waits [R-QUOTA-2] [R-ROUND-1].")).toEqual(["It waits.", ["R-QUOTA-2", "R-ROUND-1"]]);
  });
  it("tell entries of the log, also of kinds without words", () => {
    expect(eventText({ seq: 1, at: "", kind: "Noticed", attempt: 3, taker: "/A", reason: "quota" })).toBe("attempt 3 gets notice for /A: quota");
    expect(eventText({ seq: 1, at: "", kind: "New", host: "g1", empty: "" })).toBe("host g1");
  });
});

describe("what one is told of a job", () => {
  it("is what was chosen, in its order, each once", () => {
    expect(chosen(["end"], "start", true)).toEqual(["start", "end"]);
    expect(chosen(["start", "end"], "end", false)).toEqual(["start"]);
    expect(chosen(["end"], "end", true)).toEqual(["end"]);
  });
});
