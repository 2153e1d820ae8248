import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Looking, violations } from "./looking";
import { chromium } from "./needed";
import { Provider } from "./provider";
import { Service } from "./service";

const service = new Service();
const provider = new Provider(5);
const looking = new Looking();
const RECORDS = 450;

const access = (issuer: string): string => `fairhold_access: 1
groups: {quants: [], auditors: []}
roles: {auditor: [view, read_audit]}
bindings:
  - {role: submitter, at: /Research, groups: [quants]}
  - {role: auditor, at: /, groups: [auditors]}
oidc: {issuer: "${issuer}", client_id: fairhold, name: Bank SSO, clock_skew: 0s}
`;

async function signedIn(user: string, where: string): Promise<{ page: Page; wrong: string[] }> {
  const found = await looking.page();
  await found.page.goto(`${service.url}/console/${where}`);
  await found.page.click("text=Sign in with Bank SSO");
  await provider.signIn(found.page, user);
  await found.page.waitForSelector("nav");
  return found;
}

describe.skipIf(!chromium)("people of a provider", () => {
  beforeAll(async () => {
    await Promise.all([service.start(), provider.start()]);
    const file = join(mkdtempSync(join(tmpdir(), "fairhold-access-")), "access.yaml");
    writeFileSync(file, access(provider.issuer));
    service.run("access", "apply", file);
    await looking.open();
  });
  afterAll(async () => {
    await looking.close();
    provider.stop();
    await service.stop();
  });

  it("sign in, come to the page that they wanted, and see what they may", async () => {
    const job = service.submit("/Research/Models", 1, "nightly-fit", "sleep", "600");
    const other = await looking.page();
    await other.page.goto(`${service.url}/console/jobs?text=night`);
    await other.page.waitForSelector("text=Sign in with Bank SSO");
    for (const colorScheme of ["light", "dark"] as const) {
      await other.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await violations(other.page), colorScheme).toEqual([]);
    }
    const { page, wrong } = await signedIn("uma", "jobs?text=night");
    await page.waitForSelector("text=nightly-fit");
    expect(page.url()).toBe(`${service.url}/console/jobs?text=night`);
    await page.waitForSelector("nav .who:has-text('uma')");
    expect(await page.locator("nav >> text=Audit").count()).toBe(0);
    await page.goto(`${service.url}/console/audit`);
    await page.waitForSelector("text=You have no right to see this.");
    await page.goto(`${service.url}/console/jobs/${job}`);
    await page.waitForSelector("text=nightly-fit");
    expect(wrong).toEqual([]);
  });

  it("stay signed in with other tokens, until they leave", async () => {
    const { page } = await signedIn("uma", "jobs");
    const expires = (): Promise<string> =>
      page.evaluate(async () => {
        const found = await fetch("/v1/me", { headers: { "fairhold-console": "1" } });
        return ((await found.json()) as { expires: string }).expires;
      });
    const first = await expires();
    await page.waitForTimeout(5500);
    expect(await expires() > first).toBe(true);
    await page.click("text=Sign out");
    await page.waitForSelector("text=Sign in with Bank SSO");
    await page.reload();
    await page.waitForSelector("text=Sign in with Bank SSO");
  });

  it("whom no role lets in are told so by the service", async () => {
    const { page } = await looking.page();
    await page.goto(`${service.url}/console/`);
    await page.click("text=Sign in with Bank SSO");
    await provider.signIn(page, "zoe");
    await page.waitForSelector("text=Not signed in");
    await page.waitForSelector("text=unknown-user");
    expect(await violations(page)).toEqual([]);
    await page.click("text=Back to the sign-in page");
    await page.waitForSelector("input[name=token]");
  });

  it("who audit find who did what, and take it with them", async () => {
    const head = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
    const job = { consumer: "/Risk", argv: ["true"], hold: true };
    for (let at = 0; at < RECORDS; at++) {
      const answer = await fetch(`${service.url}/v1/jobs`, { method: "POST", headers: head, body: JSON.stringify(job) });
      expect(answer.status).toBe(201);
    }
    const { page, wrong } = await signedIn("eve", "audit");
    await page.waitForSelector("nav >> text=Audit");
    await page.waitForSelector('.row:has-text("sign in"):has-text("eve")');
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await violations(page), colorScheme).toEqual([]);
    }
    await page.locator('[aria-label="Audit"] .scroll').focus();
    for (let at = 0; at < 30; at++) {
      await page.keyboard.press("End");
      await page.waitForTimeout(100);
    }
    await page.waitForSelector('.row:has-text("apply access")');
    await page.getByLabel("Who").fill("uma");
    await page.waitForSelector('.row:has-text("submit job")', { state: "detached" });
    await page.waitForSelector('.row:has-text("list records"):has-text("not-allowed")');
    expect(page.url()).toContain("user=uma");
    await page.getByLabel("Outcome").fill("done");
    await page.waitForSelector('.row:has-text("list records")', { state: "detached" });
    await page.getByLabel("From").fill("2020-01-01T00:00");
    await page.getByLabel("To").fill("2020-01-02T00:00");
    await page.waitForSelector("text=Nothing like this is on the record.");
    await page.click("text=Clear");
    await page.waitForSelector('.row:has-text("submit job")');
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Download JSON lines")]);
    expect(file.suggestedFilename()).toMatch(/^audit-.*\.jsonl$/);
    const lines = readFileSync(await file.path(), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as { seq: number; action: string });
    expect(lines.map((each) => each.seq)).toEqual(lines.map((_, at) => at + 1));
    expect(lines.filter((each) => each.action === "submit_job").length).toBeGreaterThanOrEqual(RECORDS);
    expect(wrong).toEqual([]);
  });

  it("come to the sign-in page when their account was closed", async () => {
    const { page } = await signedIn("uma", "jobs");
    provider.stop();
    await page.waitForSelector("input[name=token]", { timeout: 30_000 });
  });
});
