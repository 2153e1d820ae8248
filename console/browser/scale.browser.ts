/**
 * A cluster of ten thousand consumers and FAIRHOLD_JOBS waiting jobs, 100,000 if nothing is said. Figures are printed, not
 * judged: on a machine that does other things, too, only those of processor time say something.
 */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Looking } from "./looking";
import { chromium } from "./needed";
import { Service } from "./service";

const JOBS = Number(process.env.FAIRHOLD_JOBS ?? 100_000);
/** Of these no job waits in the written store. */
const IDLE = "/D050/L98";
const CHANGES = 15;

const service = new Service();
const looking = new Looking();
let page: Page;
let wrong: string[];

interface Scrolled {
  /** Milliseconds of processor time that the page took for a frame, and milliseconds from one frame to the next. */
  work: number;
  median: number;
  worst: number;
  /** That exist at most. */
  rows: number;
}

/** Scroll a table down by most of its height, frame by frame. */
async function scroll(label: string, pages: number): Promise<Scrolled> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const worked = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find((each) => each.name === "TaskDuration")!.value;
  };
  const before = await worked();
  const found = await page.evaluate(
    async ({ label, pages }) => {
      const box = document.querySelector(`[aria-label="${label}"] .scroll`)!;
      const frames: number[] = [];
      let rows = 0;
      let last = performance.now();
      for (let at = 0; at < pages; at++) {
        box.scrollTop += box.clientHeight * 0.8;
        await new Promise((done) => requestAnimationFrame(done));
        const now = performance.now();
        frames.push(now - last);
        last = now;
        rows = Math.max(rows, box.querySelectorAll(".row").length);
      }
      frames.sort((a, b) => a - b);
      return { median: Math.round(frames[Math.floor(frames.length / 2)]!), worst: Math.round(frames.at(-1)!), rows };
    },
    { label, pages },
  );
  return { work: Math.round((await worked()) - before) / pages, ...found };
}

/** Seconds of processor time of the service until now. */
function served(): number {
  const fields = readFileSync(`/proc/${service.pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
  const answer = await fetch(`${service.url}/v1/${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as T;
}

interface Seen {
  /** Milliseconds from a commit until the page shows it: median and worst. */
  median: number;
  worst: number;
  /** Milliseconds of processor time for each change: of the service and of the page. */
  service: number;
  page: number;
}

/** Submit jobs to a consumer, one after the other, and see each on a page: `shown` is what it shows of the count. */
async function changes(shown: (count: number) => string): Promise<Seen> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const worked = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find((each) => each.name === "TaskDuration")!.value;
  };
  const [before, began] = [served(), await worked()];
  const took: number[] = [];
  for (let at = 0; at < CHANGES; at++) {
    const { waiting } = await counts();
    const seen = page.evaluate(
      (text) =>
        new Promise<number>((done) => {
          const look = (): void => {
            if (document.evaluate(text, document, null, XPathResult.BOOLEAN_TYPE, null).booleanValue) done(Date.now());
            else requestAnimationFrame(look);
          };
          look();
        }),
      shown(waiting + 1),
    );
    const job = await ask<{ submitted: string }>("POST", "jobs", { consumer: IDLE, argv: ["true"], name: `seen-${waiting + 1}` });
    took.push((await seen) - Date.parse(job.submitted));
    await page.waitForTimeout(1500);
  }
  took.sort((a, b) => a - b);
  const each = (sum: number): number => Math.round(sum / CHANGES);
  return {
    median: took[Math.floor(CHANGES / 2)]!,
    worst: took.at(-1)!,
    service: each(1000 * (served() - before)),
    page: each((await worked()) - began),
  };
}

async function counts(): Promise<{ waiting: number }> {
  const found = await ask<{ resource_groups: Record<string, { consumers: { path: string; waiting: number }[] }> }>(
    "GET", `consumers?consumer=${IDLE}`,
  );
  return found.resource_groups.compute!.consumers.find((each) => each.path === IDLE)!;
}

function tell(what: string, value: unknown): void {
  process.stdout.write(`${what}: ${JSON.stringify(value)}\n`);
}

describe.skipIf(!chromium)("a large cluster", () => {
  beforeAll(async () => {
    service.write("bench.large_cluster", String(JOBS));
    await service.start();
    await looking.open();
    ({ page, wrong } = await looking.page());
    const began = Date.now();
    await page.goto(service.console());
    await page.waitForSelector(".row:has-text('D000')");
    tell("milliseconds until ten thousand consumers are shown", Date.now() - began);
  }, 300_000);
  afterAll(async () => {
    await looking.close();
    await service.stop();
  });

  it("shows every consumer, of which few exist at a time", async () => {
    await page.fill("input[type=search]", "L");
    await page.waitForSelector(".row:has-text('L00')");
    const found = await scroll("Consumers of compute", 120);
    tell("scrolling through consumers, milliseconds a frame", found);
    expect(found.rows).toBeLessThan(150);
    await page.evaluate(`document.querySelector(".table .scroll").scrollTop = 1e9`);
    await page.waitForSelector("a[href$='/D099/L98']");
  });

  it("shows a change of a consumer in the tree", async () => {
    await page.fill("input[type=search]", IDLE);
    await page.waitForSelector("a[href$='/D050/L98']");
    const row = `//div[@role="row"][.//a[contains(@href, "${IDLE}")]]`;
    tell("a change on the cluster's page, milliseconds", await changes((count) => `boolean(${row}/div[@data-key="waiting" and .="${count}"])`));
  }, 300_000);

  it("shows a change of a consumer on its own page", async () => {
    await page.goto(`${service.url}/console/consumers${IDLE}`);
    await page.waitForSelector("text=Why this quota");
    const fact = (count: number): string => `boolean(//dl//div[dt="Waits for"]/dd[starts-with(., "${count}")])`;
    tell("a change on a consumer's page, milliseconds", await changes(fact));
  }, 300_000);

  it("shows a new job", async () => {
    await page.goto(`${service.url}/console/jobs`);
    await page.waitForSelector(".row:has-text('seen-')");
    tell("a change on the page of jobs, milliseconds", await changes((count) => `boolean(//a[.="seen-${count}"])`));
  }, 300_000);

  it("shows every job, read on as somebody scrolls", async () => {
    const began = Date.now();
    const box = `document.querySelector(".table .scroll")`;
    while (!(await page.locator(`.row a:text-is("1")`).count())) {
      await page.evaluate(`${box}.scrollTop = 1e9`);
      await page.waitForTimeout(10);
    }
    tell(`seconds to read ${JOBS} jobs`, (Date.now() - began) / 1000);
    await page.evaluate(`${box}.scrollTop = ${box}.scrollHeight / 3`);
    const found = await scroll("Jobs", 150);
    tell(`scrolling through ${JOBS} jobs, milliseconds a frame`, found);
    expect(found.rows).toBeLessThan(150);
    expect(wrong).toEqual([]);
  }, 600_000);

  it("sorts them", async () => {
    await page.goto(`${service.url}/console/jobs`);
    for (const [column, name] of [["user", "seen-"], ["prio", "file-"], ["name", "file-0"]] as const) {
      const [began, before] = [Date.now(), served()];
      await page.click(`.sort:has-text('${column}')`);
      await page.waitForSelector(`[aria-label="Jobs"] .row:not(.head) >> nth=0 >> text=${name}`);
      tell(`sorting by ${column}, milliseconds, and of the service's processor time`, [Date.now() - began, Math.round(1000 * (served() - before))]);
    }
  }, 120_000);
});
