import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Looking, violations } from "./looking";
import { chromium } from "./needed";
import { Service } from "./service";

const service = new Service();
const looking = new Looking();
let page: Page;
let wrong: string[];

async function go(where: string): Promise<void> {
  await page.goto(`${service.url}/console/${where}`);
  await page.waitForSelector("main h1");
}

const planText = (): string => service.json<{ text: string }>("plan", "show").text;

describe.skipIf(!chromium)("the plan in the console", () => {
  beforeAll(async () => {
    await service.start();
    service.submit("/Research/Models", 8, "nightly-fit", "sh", "-c", 'trap "" TERM; sleep 600');
    await looking.open();
    ({ page, wrong } = await looking.page());
    await page.goto(service.console());
    await page.waitForSelector("text=Last cycle");
  });
  afterAll(async () => {
    await looking.close();
    await service.stop();
  });

  it("plays other numbers on until tonight", async () => {
    await go("what-if?consumer=/Risk");
    await page.fill('input[aria-label="/Risk owns, exactly"]', "4");
    await page.keyboard.press("Tab");
    await page.waitForSelector("tr:has-text('/Risk'):has-text('owns'), tr:has-text('/Risk'):has-text('owned')");
    await page.click("button:has-text('Until tonight')");
    await page.waitForSelector("section:has-text('Play on') >> text=of the plan changed");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await violations(page), colorScheme).toEqual([]);
    }
  });

  it("simulates what happened as it was and with other numbers, and gives it up when told to", async () => {
    const panel = page.locator("section:has(> header:has-text('Simulate what happened'))");
    await panel.getByText("Simulate", { exact: true }).click();
    await panel.getByText("came out the same").waitFor();
    await panel.getByText("Under the other plan", { exact: true }).waitFor();
    expect(await panel.locator(".chart").count()).toBe(2);
    await panel.getByText("also where nothing differs").click();
    await panel.locator("td:has-text('/Research/Models')").first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await violations(page), colorScheme).toEqual([]);
    }
    await panel.locator("select").first().selectOption("1h");
    expect(page.url()).toContain("span=1h");
    await panel.getByText("Under the other plan", { exact: true }).waitFor({ state: "detached" });
    await panel.getByText("Simulate", { exact: true }).click();
    await panel.getByText("Stop", { exact: true }).click();
    expect(await panel.getByText("It is being played").count()).toBe(0);
  });

  it("makes what the sliders say a draft, with what differs, its effect as a picture, and puts it in force", async () => {
    await page.click("text=Make it a draft of the plan");
    await page.waitForSelector(".cm-deletedChunk");
    await page.waitForSelector(".cm-changedLine:has-text('/Risk: {owned: 4}')");
    expect(page.url()).toContain("/console/plan#draft=1.");
    await page.click("button:has-text('Dry run'):not([disabled])");
    await page.waitForSelector(".before-after");
    expect(await violations(page)).toEqual([]);
    await page.click("button:text-is('Simulate'):not([disabled])");
    await page.waitForSelector("section:has-text('Simulate what happened') >> text=came out the same");
    const other = await looking.page();
    await other.page.goto(service.console());
    await other.page.waitForSelector("text=Last cycle");
    await other.page.goto(page.url());
    await other.page.waitForSelector(".cm-changedLine:has-text('/Risk: {owned: 4}')");
    await page.click("button:has-text('Put in force…')");
    await page.fill("dialog input >> nth=0", "more for Risk");
    await page.click("dialog button[type=submit]");
    await page.waitForSelector("text=Version 2 by");
    expect(page.url()).not.toContain("draft");
    expect(planText()).toContain("/Risk: {owned: 4}");
    await other.page.waitForSelector("button:has-text('Leave it')"); // what it has is in force
    expect(wrong).toEqual([]);
  });

  it("shows what a version changed", async () => {
    await page.click("text=What it changed");
    await page.waitForSelector("text=From version 1 to version 2:");
    await page.waitForSelector(".cm-changedLine:has-text('/Risk: {owned: 4}')");
    await page.click("text=Text alone");
    await page.waitForSelector(".cm-deletedChunk", { state: "detached" });
  });

  it("keeps what is typed when somebody else puts a plan in force, and says so", async () => {
    await go("plan");
    await page.click("button:has-text('Edit')");
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("# typed");
    await page.keyboard.press("Enter");
    service.apply(planText().replace("/Risk: {owned: 4}", "/Risk: {owned: 3}"));
    await page.waitForSelector("text=This draft was made from version 2; version 3 is in force by now");
    await page.waitForSelector(".cm-line:has-text('# typed')");
    await page.waitForSelector(".cm-changedLine:has-text('/Risk: {owned: 4}')");
    await page.click("button:has-text('Drop the changes')");
    await page.click("button:has-text('Edit')");
    service.apply(planText().replace("/Risk: {owned: 3}", "/Risk: {owned: 2}"));
    await page.waitForSelector(".cm-line:has-text('/Risk: {owned: 2}')"); // nobody has typed: it goes along
    expect(await page.locator("text=This draft was made from").count()).toBe(0);
    await page.click("button:has-text('Leave it')");
    expect(wrong).toEqual([]);
  });

  it("says that the link to a draft is damaged, and shows the plan in force", async () => {
    await go("jobs");
    await go("plan#draft=1.nonsense");
    await page.waitForSelector("text=The link to a draft is damaged");
    await page.waitForSelector("text=Version 4 by");
    expect(wrong).toEqual([]);
  });

  it("offers the keys that may stand there", async () => {
    await go("plan");
    await page.click("button:has-text('Edit')");
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("    se");
    await page.click(".cm-tooltip-autocomplete >> text=settings"); // a key that comes at once is not taken for a choice
    await page.waitForSelector(".cm-line:has-text('settings: ')");
    await page.click("button:has-text('Drop the changes')");
    await page.waitForSelector("text=Version 4 by");
    expect(wrong).toEqual([]);
  });
});
