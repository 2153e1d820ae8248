import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Looking } from "./looking";
import { chromium } from "./needed";
import { Service } from "./service";

const service = new Service();
const looking = new Looking();
const ACCESS = `fairhold_access: 1
users: [vera, sam, olaf, paula, ada]
bindings:
  - {role: viewer, at: /, users: [vera]}
  - {role: submitter, at: /Risk, users: [sam]}
  - {role: viewer, at: /, users: [sam]}
  - {role: operator, at: /, users: [olaf]}
  - {role: plan_editor, at: /, users: [paula]}
  - {role: administrator, at: /, users: [ada]}
`;

async function signedIn(user: string): Promise<{ page: Page; wrong: string[] }> {
  const found = await looking.page();
  await found.page.goto(`${service.url}/console/jobs`);
  await found.page.fill("input[name=token]", service.run("token", "create", "--user", user, "--name", `console of ${user}`));
  await found.page.click("text=Sign in");
  await found.page.waitForSelector(`nav .who:has-text('${user}')`);
  return found;
}

describe.skipIf(!chromium)("each role", () => {
  let job = "";
  let own = "";
  beforeAll(async () => {
    await service.start();
    const file = join(mkdtempSync(join(tmpdir(), "fairhold-access-")), "access.yaml");
    writeFileSync(file, ACCESS);
    service.run("access", "apply", file);
    job = service.submit("/Research/Models", 1, "fit", "sleep", "600");
    own = service.run("submit", "/Risk", "--user", "sam", "--name", "var", "--", "sleep", "600");
    await looking.open();
  });
  afterAll(async () => {
    await looking.close();
    await service.stop();
  });

  it.each([
    ["vera", { manages: false, manageOwn: false, hosts: false, plan: false, audit: false }],
    ["sam", { manages: false, manageOwn: true, hosts: false, plan: false, audit: false }],
    ["olaf", { manages: true, manageOwn: true, hosts: true, plan: false, audit: false }],
    ["paula", { manages: false, manageOwn: false, hosts: false, plan: true, audit: false }],
    ["ada", { manages: true, manageOwn: true, hosts: true, plan: true, audit: true }],
  ])("of %s is offered what it may do, and nothing else", async (user, may) => {
    const { page, wrong } = await signedIn(user);
    const has = (selector: string): Promise<boolean> => page.locator(selector).count().then((found) => found > 0);
    const go = async (where: string, sign: string): Promise<void> => {
      await page.goto(`${service.url}/console/${where}`);
      await page.waitForSelector(sign);
      await page.waitForSelector(`nav .who:has-text('${user}')`);
      await page.waitForTimeout(300);
    };
    await go(`jobs/${job}`, "text=What it asks for");
    expect(await has("button:has-text('Cancel')"), "jobs of others").toBe(may.manages);
    await go(`jobs/${own}`, "text=What it asks for");
    expect(await has("button:has-text('Cancel')"), "his own job").toBe(may.manageOwn);
    await go("hosts", ".host");
    expect(await has(".host button:has-text('Close')"), "hosts").toBe(may.hosts);
    await go("plan", "text=Versions");
    expect(await has("button:has-text('Edit')"), "the plan").toBe(may.plan);
    expect(await has("nav >> text=Audit"), "audit").toBe(may.audit);
    await go("what-if?consumer=/Risk&changes=/Risk:owned%3D3", "text=Who would have what");
    await page.click("text=Make it a draft of the plan");
    await page.waitForSelector("button:has-text('Dry run')");
    expect(await has("button:has-text('Put in force…')"), "a draft").toBe(may.plan);
    expect(wrong).toEqual([]);
  });
});
