/** Main pages beside pictures of them that were kept; `FAIRHOLD_KEEP=1` keeps them as they are now. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Looking } from "./looking";
import { chromium } from "./needed";
import { difference, webp } from "./screenshot";
import { Service } from "./service";

const KEPT = join(import.meta.dirname, "kept");
/** Thousandths of a picture that may differ: a line more or less of text does. */
const TOLERANCE = 60;

const service = new Service();
const looking = new Looking();
let page: Page;

describe.skipIf(!chromium)("the look", () => {
  beforeAll(async () => {
    await service.start();
    service.submit("/Research/Models", 6, "nightly-fit", "sleep", "3600");
    service.submit("/Risk", 1, "var", "sleep", "3600");
    service.run("submit", "/Research/Backtests", "--hold", "-n", "4", "--name", "backtests", "--", "true");
    await looking.open();
    ({ page } = await looking.page());
    await page.goto(service.console());
    await page.waitForSelector(".row:has-text('Models'):has-text('6')");
  });
  afterAll(async () => {
    await looking.close();
    await service.stop();
  });

  it.each([
    ["cluster", "cluster", "text=Last cycle"],
    ["consumer", "consumers/Research/Models", ".flow"],
    ["jobs", "jobs", ".row:has-text('backtests')"],
    ["job", "jobs/1", ".attempt.running"],
    ["hosts", "hosts", ".cells a"],
    ["plan", "plan", ".cm-content, .editor"],
    ["what-if", "what-if?consumer=/Risk&changes=/Risk:owned%3D4", "tr:has-text('/Risk')"],
  ])("of %s is that of the picture that was kept", async (name, where, sign) => {
    await page.goto(`${service.url}/console/${where}`);
    await page.waitForSelector(sign);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.waitForTimeout(1000);
      const now = await webp(page, await page.screenshot(), 0.5);
      const file = join(KEPT, `${name}-${colorScheme}.webp`);
      if (process.env.FAIRHOLD_KEEP) {
        mkdirSync(KEPT, { recursive: true });
        writeFileSync(file, now);
      }
      expect(existsSync(file), `${file} is not there: run with FAIRHOLD_KEEP=1`).toBe(true);
      expect(await difference(page, readFileSync(file), now), `${name} ${colorScheme}`).toBeLessThanOrEqual(TOLERANCE);
    }
  });

  it("tells a page from another one, and light from dark", async () => {
    const kept = (name: string): Buffer => readFileSync(join(KEPT, `${name}.webp`));
    expect(await difference(page, kept("cluster-light"), kept("cluster-dark"))).toBeGreaterThan(10 * TOLERANCE);
    expect(await difference(page, kept("cluster-light"), kept("hosts-light"))).toBeGreaterThan(TOLERANCE);
  });
});
