/** How soon the console shows something useful: figures are printed, not judged; what is sent for it is. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Looking } from "./looking";
import { chromium } from "./needed";
import { Service } from "./service";

const service = new Service();
const looking = new Looking();
const TIMES = 5;
/** Bytes that the first page may take, compressed, without the answers of the API. */
const MOST = 60_000;

describe.skipIf(!chromium)("the first paint", () => {
  beforeAll(async () => {
    await service.start();
    service.submit("/Research/Models", 6, "nightly-fit", "sleep", "600");
    await looking.open();
  });
  afterAll(async () => {
    await looking.close();
    await service.stop();
  });

  it("takes few files, and shows consumers with their numbers", async () => {
    const took: number[] = [];
    for (let at = 0; at < TIMES; at++) {
      const { page, wrong } = await looking.page(); // a context of its own: nothing is in its cache
      await page.addInitScript(() => {
        new MutationObserver((_, observer) => {
          if (!document.querySelector(".row:not(.head) .bar")) return;
          observer.disconnect();
          requestAnimationFrame(() => setTimeout(() => performance.mark("useful")));
        }).observe(document, { childList: true, subtree: true });
      });
      await page.goto(service.console());
      await page.waitForSelector(".row:not(.head) .bar");
      await page.waitForFunction(() => performance.getEntriesByName("useful").length > 0);
      const found = await page.evaluate(() => {
        const files = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
        const own = [...(performance.getEntriesByType("navigation") as PerformanceResourceTiming[]), ...files];
        const sent = own.filter((each) => new URL(each.name).pathname.startsWith("/console"));
        return {
          useful: performance.getEntriesByName("useful")[0]!.startTime,
          bytes: sent.reduce((sum, each) => sum + each.encodedBodySize, 0),
        };
      });
      took.push(Math.round(found.useful));
      expect(found.bytes).toBeGreaterThan(1000);
      expect(found.bytes).toBeLessThan(MOST);
      expect(wrong).toEqual([]);
      await page.context().close();
    }
    took.sort((a, b) => a - b);
    process.stdout.write(`milliseconds until consumers are painted, from a cold cache: ${JSON.stringify(took)}\n`);
  });
});
