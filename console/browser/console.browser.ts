import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Looking, violations } from "./looking";
import { chromium } from "./needed";
import { Service, until } from "./service";

const service = new Service();
const looking = new Looking();
let page: Page;
let wrong: string[];
let models = "";

async function go(where: string): Promise<void> {
  await page.goto(`${service.url}/console/${where}`);
  await page.waitForSelector("main h1");
}

describe.skipIf(!chromium)("the console", () => {
  beforeAll(async () => {
    await service.start();
    models = service.submit("/Research/Models", 8, "nightly-fit", "sh", "-c", 'trap "" TERM; echo begun {index}; sleep 600');
    await looking.open();
    ({ page, wrong } = await looking.page());
    await page.goto(service.console());
    await page.waitForSelector("text=Last cycle");
  });
  afterAll(async () => {
    await looking.close();
    await service.stop();
  });

  it("keeps no code in the address", () => {
    expect(page.url()).toBe(`${service.url}/console/`);
  });

  it.each([
    ["cluster", "text=Research"],
    ["consumers/Research/Models", "text=Why this quota"],
    ["jobs", "text=nightly-fit"],
    ["jobs/1", "text=begun 0"],
    ["hosts", ".cells a"],
    ["plan", "text=Versions"],
    ["what-if?consumer=/Trading", "text=Who would have what"],
    ["usage", "text=Download CSV"],
    ["windows", "text=In force now"],
    ["events", '.row:has-text("JobAdded")'],
    ["audit", '.row:has-text("submit job")'],
    ["nowhere", "text=No such page"],
  ])("shows %s, to everybody, by day and by night", async (where, sign) => {
    await go(where);
    await page.waitForSelector(sign);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await violations(page), `${where} ${colorScheme}`).toEqual([]);
    }
    expect(wrong).toEqual([]);
  });

  it("sorts jobs by a column, both ways, and keeps that in the address", async () => {
    const jobs = ([["zeta", "1"], ["alpha", "7"]] as const).map(([name, priority]) =>
      service.run("submit", "/Risk", "--hold", "--priority", priority, "--name", name, "--", "true"),
    );
    const first = async (name: string): Promise<void> => {
      await page.waitForSelector(`[aria-label="Jobs"] .row:not(.head) >> nth=0 >> text=${name}`);
    };
    await go("jobs");
    await page.click(".sort:has-text('prio')");
    await first("nightly-fit");
    await page.click(".sort:has-text('prio')");
    await first("alpha");
    expect(page.url()).toContain("order=-priority");
    await page.click(".sort:has-text('name')");
    await first("alpha");
    await page.reload();
    await page.click(".sort:has-text('name')");
    await first("zeta");
    service.run("cancel", ...jobs);
  });

  it.each(["cluster", "consumers/Research/Models", "jobs", "jobs/1", "hosts", "plan", "what-if?consumer=/Risk", "usage", "windows", "events", "audit"])(
    "fits %s on a narrow screen",
    async (where) => {
      await page.setViewportSize({ width: 390, height: 800 });
      await go(where);
      await page.waitForTimeout(500);
      const width = await page.evaluate("Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth)");
      await page.setViewportSize({ width: 1280, height: 800 });
      expect(width).toBeLessThanOrEqual(390);
    },
  );

  it("shows who lends to a consumer, pair by pair", async () => {
    await go("consumers/Research/Models");
    await page.waitForSelector("text=/It borrows \\d+:/");
    const label = (await page.locator(".flow svg").first().getAttribute("aria-label"))!;
    expect(label).toContain("/Research/Backtests lends /Research/Models 1");
    const parts = [...label.matchAll(/ lends \/Research\/Models (\d+)/g)].map((match) => Number(match[1]));
    const borrowed = await page.textContent(".facts div:has(dt:text-is('Borrowed')) dd");
    expect(parts.reduce((sum, each) => sum + each, 0)).toBe(Number(borrowed));
    expect(await violations(page)).toEqual([]);
  });

  it("can be used by keyboard alone", async () => {
    await go("cluster");
    await page.waitForSelector("text=Research");
    await page.keyboard.press("/");
    await page.keyboard.type("back");
    await page.waitForSelector("text=Backtests");
    expect(await page.locator("text=Equities").count()).toBe(0);
    expect(page.url()).toContain("find=back");
    await page.locator("main").focus();
    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await page.waitForSelector("text=nightly-fit");
  });

  it("says why a number is what it is", async () => {
    await go("cluster");
    await page.click('button[aria-label^="Why the quota of /Research/Models"]');
    await page.waitForSelector('.why-panel:has-text("/Research/Models in compute: quota")');
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await page.locator(".why-panel:popover-open").count()).toBe(0);
  });

  it("follows a reclaim from its notice to the restart", async () => {
    await go(`jobs/${models}`);
    await page.waitForSelector('.attempt[title*="Task 0,"]');
    await page.click('.attempt[title*="Task 1,"]');
    expect(new URL(page.url()).searchParams.get("attempt")).toBe("1/1");
    await page.waitForSelector("pre:has-text('begun 1')");
    const prices = service.submit("/Trading/Equities", 3, "prices", "sleep", "3");
    await page.waitForSelector('.attempt.notice[title*="under notice for /Trading/Equities"]');
    await page.waitForSelector('.attempt.reclaimed[title*="taken back for /Trading/Equities"]');
    await page.waitForSelector("text=What was taken from it");
    await page.waitForSelector('.attempt.running[title*="attempt 2"]');
    await until(() => service.json<{ job: { state: string } }>("show", prices).job.state === "done");
  });

  it("says what an action does to whom, and does it", async () => {
    const job = service.submit("/Risk", 1, "var", "sleep", "600");
    await go(`jobs/${job}`);
    await page.waitForSelector('.pill.running');
    await page.click("button:has-text('Cancel')");
    await page.waitForSelector("text=1 running task of");
    expect(await violations(page)).toEqual([]);
    await page.click("dialog button:has-text('Leave it')");
    expect(service.json<{ job: { state: string } }>("show", job).job.state).toBe("running");
    await page.click("button:has-text('Cancel')");
    await page.click("dialog button.danger");
    await page.waitForSelector(".pill.cancelled");
  });

  it("closes a host with a reason, and opens it", async () => {
    await go("hosts");
    await page.click("button:has-text('Close')");
    await page.waitForSelector("text=Nothing more starts on it.");
    await page.fill("dialog input:not([type])", "new memory");
    await page.click("dialog button[type=submit]");
    await page.waitForSelector("text=new memory");
    await page.click("button:has-text('Open')");
    await page.click("dialog button[type=submit]");
    await page.waitForSelector(".pill.up");
  });

  it("tells what other numbers would do", async () => {
    await go("what-if?consumer=/Research/Backtests");
    await page.fill('input[aria-label="/Research/Backtests wants, exactly"]', "5");
    await page.keyboard.press("Tab");
    await page.waitForSelector("tr:has-text('/Research/Backtests'):has-text('quota')");
    expect(decodeURIComponent(page.url())).toContain("/Research/Backtests:demand=5");
  });

  it("gives usage as a file", async () => {
    await go("usage?by=user");
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Download CSV")]);
    expect(file.suggestedFilename()).toMatch(/^usage-.*\.csv$/);
  });

  it("changes the plan and puts it back", async () => {
    await go("plan");
    await page.click("button:has-text('Edit')");
    const editor = page.locator(".cm-content");
    await editor.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("nonsense: 1");
    await page.waitForSelector("text=Line 20:");
    expect(await page.locator("button:has-text('Put in force…')").isDisabled()).toBe(true);
    for (let at = 0; at < "nonsense: 1".length; at++) await page.keyboard.press("Backspace");
    for (let at = 0; at < 2; at++) await page.keyboard.press("ArrowUp");
    await page.keyboard.press("End");
    await page.keyboard.type("  # less");
    await page.keyboard.press("Home");
    await page.keyboard.press("Control+Home");
    await page.waitForSelector("button:has-text('Put in force…'):not([disabled])");
    await page.click("button:has-text('Dry run')");
    await page.waitForSelector("text=of the plan changed");
    expect(await violations(page)).toEqual([]);
    await page.click("button:has-text('Put in force…')");
    await page.waitForSelector("dialog >> text=of the plan changed");
    await page.fill("dialog input >> nth=0", "a comment for all");
    await page.click("dialog button[type=submit]");
    await page.waitForSelector("text=Version 2 by");
    await page.click("a[href$='version=1']");
    await page.click("text=Compare with version 2");
    await page.waitForSelector("text=# less");
    await page.click("text=Back to this version…");
    await page.waitForSelector("dialog >> text=of the plan changed");
    await page.click("dialog button[type=submit]");
    await page.waitForSelector("text=Version 3 by");
    expect(service.json<{ text: string }>("plan", "show").text).not.toContain("# less");
  });

  it("says that the connection is lost, and goes on when it is there again", async () => {
    const way = await service.way();
    const other = await looking.page();
    await other.page.goto(service.console().replace(service.url, way.url));
    await other.page.waitForSelector("text=Last cycle");
    way.cut();
    await other.page.waitForSelector("text=The connection to the service is lost.");
    const late = service.submit("/Risk", 1, "late", "sleep", "600");
    await way.open();
    await other.page.waitForSelector("text=The connection to the service is lost.", { state: "detached" });
    await until(async () => (await other.page.textContent('.row:has-text("Risk") >> nth=0'))?.includes("1") ?? false);
    service.run("cancel", late);
    way.cut();
    expect(other.wrong).toEqual([]);
  });

  it("lets in who has a token, at the address that they came for, until they leave", async () => {
    const other = await looking.page();
    await other.page.goto(`${service.url}/console/jobs?text=night`);
    await other.page.fill("input[name=token]", "a guess of somebody");
    await other.page.click("text=Sign in");
    await other.page.waitForSelector("text=the token is not this service's");
    expect(await violations(other.page)).toEqual([]);
    await other.page.fill("input[name=token]", service.token);
    await other.page.click("text=Sign in");
    await other.page.waitForSelector("text=nightly-fit");
    const beside = await other.page.context().newPage();
    await beside.goto(`${service.url}/console/jobs`);
    await beside.waitForSelector("text=nightly-fit");
    await other.page.click("text=Sign out");
    await other.page.waitForSelector("input[name=token]");
    await beside.waitForSelector("input[name=token]"); // it is told nothing more, either
    await other.page.reload();
    await other.page.waitForSelector("input[name=token]");
  });

  it("asks for the token again when the service was started again", async () => {
    await go("cluster");
    await service.stop(true);
    await page.waitForSelector("text=The connection to the service is lost.");
    await service.start();
    await page.waitForSelector("input[name=token]");
  });
});
