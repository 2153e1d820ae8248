/** Makes the pictures of the pages in docs/pictures: `npm run pictures`. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Looking } from "./looking";
import { webp } from "./screenshot";
import { Service } from "./service";

const PICTURES = resolve(import.meta.dirname, "../../docs/pictures");
const SIZE = { width: 1120, height: 640 };

async function main(): Promise<void> {
  const service = new Service();
  const looking = new Looking();
  await service.start();
  await looking.open();
  try {
    const { page } = await looking.page({ viewport: SIZE, deviceScaleFactor: 1.5 });
    const take = async (name: string, where: string, sign: string): Promise<void> => {
      await page.goto(`${service.url}/console/${where}`);
      await page.waitForSelector(sign);
      await picture(name);
    };
    const picture = async (name: string): Promise<void> => {
      await page.waitForTimeout(700);
      writeFileSync(join(PICTURES, `console-${name}.webp`), await webp(page, await page.screenshot()));
    };
    await page.goto(service.console());
    await page.waitForSelector("text=Last cycle");
    const calm = 'trap "" TERM; for at in $(seq 600); do echo "step $at of task {index}"; sleep 1; done';
    const fit = service.submit("/Research/Models", 6, "nightly-fit", "sh", "-c", calm);
    service.submit("/Research/Backtests", 9, "backtests", "sh", "-c", calm);
    service.submit("/Risk", 1, "var", "sleep", "600");
    await page.waitForTimeout(5000);
    service.submit("/Trading/Equities", 2, "prices", "sleep", "600");
    await take("cluster", "cluster", ".part.borrowed-notice");
    await page.waitForTimeout(6000);
    await take("job", `jobs/${fit}`, ".attempt.reclaimed");
    await page.goto(`${service.url}/console/what-if?consumer=/Trading&changes=/Trading:reserved%3D4&span=all`);
    await page.click("button:text-is('Simulate')");
    await page.waitForSelector("text=Consumers, as it was");
    await page.locator("text=Simulate what happened").scrollIntoViewIfNeeded();
    await page.evaluate(() => document.querySelector("section[aria-label^='The report']")?.closest(".panel")?.scrollIntoView());
    await picture("simulate");
    await take("what-if", "what-if?consumer=/Research/Models&changes=/Risk:demand%3D4", "text=Who would have what");
  } finally {
    await looking.close();
    await service.stop();
  }
}

await main();
