/** A large cluster: ten thousand consumers, and as many jobs as FAIRHOLD_JOBS says. Figures are printed, not judged. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Looking } from "./looking";
import { chromium } from "./needed";
import { Service } from "./service";

const BRANCHES = 100;
const LEAVES = 99;
/** Jobs that are invented between the service and the page: to submit so many takes long. */
const MANY = 100_000;
const JOBS = Number(process.env.FAIRHOLD_JOBS ?? 1000);

function plan(): string {
  const names = Array.from({ length: BRANCHES }, (_, at) => `D${String(at).padStart(3, "0")}`);
  const leaves = Array.from({ length: LEAVES }, (_, at) => `L${String(at).padStart(2, "0")}: {}`).join(", ");
  return `fairhold: 1
cluster: large
resource_groups:
  compute: {slots: 1000}
consumers:
${names.map((name) => `  ${name}: {consumers: {${leaves}}}`).join("\n")}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
${names.map((name) => `      /${name}: {owned: 10}`).join("\n")}
`;
}

const service = new Service();
const looking = new Looking();
let page: Page;
let wrong: string[];

/** Submit held jobs, many at a time, with the token of the service. */
async function submit(count: number): Promise<void> {
  const headers = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const at = next++;
      const consumer = `/D${String(at % BRANCHES).padStart(3, "0")}/L${String(at % LEAVES).padStart(2, "0")}`;
      const body = JSON.stringify({ consumer, argv: ["/bin/true"], name: `job-${at}`, hold: true });
      const answer = await fetch(`${service.url}/v1/jobs`, { method: "POST", headers, body });
      if (!answer.ok) throw new Error(await answer.text());
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
}

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

function tell(what: string, value: unknown): void {
  process.stdout.write(`${what}: ${JSON.stringify(value)}\n`);
}

describe.skipIf(!chromium)("a large cluster", () => {
  beforeAll(async () => {
    await service.start(plan());
    await looking.open();
    ({ page, wrong } = await looking.page());
    const began = Date.now();
    await page.goto(service.console());
    await page.waitForSelector(".row:has-text('D000')");
    tell("milliseconds until ten thousand consumers are shown", Date.now() - began);
  }, 120_000);
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

  it("shows every job, read on as somebody scrolls", async () => {
    const began = Date.now();
    await submit(JOBS);
    tell(`seconds to submit ${JOBS} jobs`, (Date.now() - began) / 1000);
    await page.goto(`${service.url}/console/jobs`);
    await page.waitForSelector(`.row:has-text("job-")`);
    const found = await scroll("Jobs", 150);
    tell("scrolling through jobs, milliseconds a frame", found);
    expect(found.rows).toBeLessThan(150);
    for (let at = 0; at < 200; at++) {
      if (await page.locator(`a:text-is("1")`).count()) break;
      await page.evaluate(`document.querySelector(".table .scroll").scrollTop = 1e9`);
      await page.waitForTimeout(50);
    }
    if (JOBS <= 5000) await page.waitForSelector(`a:text-is("1")`);
    expect(wrong).toEqual([]);
  }, 300_000);

  it("scrolls through a hundred thousand jobs as through ten", async () => {
    const answer = await fetch(`${service.url}/v1/jobs?limit=1`, { headers: { authorization: `Bearer ${service.token}` } });
    const [row] = ((await answer.json()) as { jobs: object[] }).jobs;
    await page.route("**/v1/jobs?*", (route) => {
      const query = new URL(route.request().url()).searchParams;
      const begin = Number(query.get("cursor") ?? MANY);
      const rows = Math.min(Number(query.get("limit")), begin);
      const jobs = Array.from({ length: rows }, (_, at) => ({ ...row, job: String(begin - at), name: `many-${begin - at}` }));
      return route.fulfill({ json: { jobs, next: begin > rows ? String(begin - rows) : null } });
    });
    await page.goto(`${service.url}/console/jobs`);
    await page.waitForSelector(".row:has-text('many-')");
    const last = page.locator(".row:has-text('many-1')").filter({ has: page.locator("a:text-is('1')") });
    const began = Date.now();
    while (!(await last.count())) {
      await page.evaluate(`document.querySelector(".table .scroll").scrollTop = 1e9`);
      await page.waitForTimeout(10);
    }
    tell("seconds to read them all", (Date.now() - began) / 1000);
    await page.evaluate(`document.querySelector(".table .scroll").scrollTop = 1.2e6`);
    const found = await scroll("Jobs", 150);
    tell("scrolling through a hundred thousand jobs, milliseconds a frame", found);
    expect(found.rows).toBeLessThan(150);
    await page.unroute("**/v1/jobs?*");
  }, 300_000);

  it("shows a change", async () => {
    await page.goto(`${service.url}/console/consumers/D050/L50`);
    await page.waitForSelector("text=Why this quota");
    const began = Date.now();
    service.submit("/D050/L50", 3, "seen", "sleep", "60");
    const committed = Date.now();
    await page.waitForSelector(".facts div:has-text('Has'):has-text('3 attempts run')");
    tell("milliseconds from the end of a submit until it is seen", [Date.now() - committed, committed - began]);
  });
});
