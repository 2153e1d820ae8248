import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Looking, violations } from "./looking";
import { chromium } from "./needed";
import { Service } from "./service";

const looking = new Looking();
/** What a tenant of /Research must find nowhere: consumers, jobs and people of others. */
const FOREIGN = ["Trading", "Equities", "Rates", "Risk", "secret-book", "mallory"];

const access = (others: string): string => `fairhold_access: 1
others: ${others}
users: [uma, mallory]
bindings:
  - {role: viewer, at: /Research, users: [uma]}
  - {role: submitter, at: /Trading, users: [mallory]}
notifications: {webhooks: {hosts: ['https://hooks.example.com']}}
`;

/** All that a page says: texts, titles, names for readers, values of fields, and what the service has sent for it. */
async function said(page: Page): Promise<string> {
  return page.evaluate(() => {
    const attributes = [...document.querySelectorAll("*")].flatMap((each) =>
      ["title", "aria-label", "value", "href", "placeholder", "data-path"].map((name) => each.getAttribute(name) ?? ""),
    );
    return [document.body.textContent, ...attributes].join("\n");
  });
}

describe.skipIf(!chromium).each(["hidden", "sums"])("a tenant where others are %s", (others) => {
  const service = new Service();
  const answers: string[] = [];
  let page: Page;
  let wrong: string[];
  let own = "";
  let foreign = "";

  const go = async (where: string): Promise<void> => {
    await page.goto(`${service.url}/console/${where}`);
    await page.waitForSelector("main h1, main .trouble");
  };
  const told = async (): Promise<void> => {
    expect(answers.join()).toContain("uma");
    const text = [await said(page), ...answers].join("\n");
    for (const name of FOREIGN) expect(text, name).not.toContain(name);
  };

  beforeAll(async () => {
    await service.start();
    const file = join(mkdtempSync(join(tmpdir(), "fairhold-access-")), "access.yaml");
    writeFileSync(file, access(others));
    service.run("access", "apply", file);
    foreign = service.submit("/Trading/Equities", 3, "secret-book", "sleep", "600");
    service.run("submit", "/Risk", "--user", "mallory", "--", "sleep", "600");
    own = service.submit("/Research/Models", 6, "nightly-fit", "sh", "-c", "echo begun; sleep 600");
    const token = service.run("token", "create", "--user", "uma");
    await looking.open();
    ({ page, wrong } = await looking.page());
    page.on("response", (response) => {
      if (!response.url().includes("/v1/") || response.url().includes("/events/stream")) return;
      void response.text().then((text) => answers.push(text), () => undefined);
    });
    await page.goto(`${service.url}/console/`);
    await page.fill("input[name=token]", token);
    await page.keyboard.press("Enter");
    await page.waitForSelector("nav .who:has-text('uma')");
  });
  afterAll(async () => {
    await looking.close();
    await service.stop();
  });

  it.each([
    ["cluster", "text=Models"],
    ["consumers/Research/Models", "text=Why this quota"],
    ["jobs", "text=nightly-fit"],
    ["hosts", "main h1"],
    ["usage", "text=Download CSV"],
    ["events", "main h1"],
    ["plan", "text=You have no right to see this."],
    ["what-if", "text=You have no right to see this."],
    ["windows", "text=You have no right to see this."],
    ["audit", "text=You have no right to see this."],
  ])("sees on %s his own part and no name of others", async (where, sign) => {
    await go(where);
    await page.waitForSelector(sign);
    await told();
    expect(await page.locator("nav >> text=/^(Plan|What if|Windows|Audit)$/").count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    expect(wrong).toEqual([]);
  });

  it("sees why his own job waits, without who has the units", async () => {
    await go(`jobs/${own}`);
    await page.waitForSelector("text=nightly-fit");
    await page.waitForSelector("text=Why");
    await told();
  });

  it("finds no page of others, whatever address he writes", async () => {
    await go(`jobs/${foreign}`);
    await page.waitForSelector("text=unknown-job");
    await go("consumers/Trading/Equities");
    await page.waitForSelector("main .trouble, main [role=alert]");
    const text = answers.join("\n");
    for (const name of ["secret-book", "mallory"]) expect(text).not.toContain(name);
    answers.length = 0; // what refuses says the path that he has written
  });

  it("is told of a job only by ways that reach him", async () => {
    await go(`jobs/${own}`);
    await page.click("label:has-text('it ends')");
    await page.waitForSelector("text=unreached");
    expect(await page.isChecked("label:has-text('it ends') input")).toBe(false);
    await page.evaluate(async () => {
      const head = { "fairhold-console": "1", "content-type": "application/json" };
      const body = JSON.stringify({ webhook: "https://hooks.example.com/x" });
      await fetch("/v1/me/notifications", { method: "PATCH", headers: head, body });
    });
    await page.click("label:has-text('it ends')");
    await page.waitForSelector("label:has-text('it ends') input:checked");
    await page.waitForSelector("text=unreached", { state: "detached" });
    expect(await violations(page)).toEqual([]);
  });
});
