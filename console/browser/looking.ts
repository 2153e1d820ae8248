/** Somebody who looks at the console in a real browser, and what goes wrong there. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium as driver, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { chromium } from "./needed";

const SWITCHES = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export class Looking {
  private browser: Browser | null = null;

  async open(): Promise<void> {
    this.browser = await driver.launch({ executablePath: chromium, args: SWITCHES });
  }

  /** A page of a browser of its own; `wrong` gathers what must not be. */
  async page(options: BrowserContextOptions = {}): Promise<{ page: Page; wrong: string[] }> {
    const context = await this.browser!.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000); // on a machine that does other things, too
    const wrong: string[] = [];
    page.on("pageerror", (error) => wrong.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("Failed to load resource")) wrong.push(message.text());
    });
    page.on("request", (request) => {
      if (new URL(request.url()).hostname.startsWith("127.0.0.")) return;
      if (!request.url().startsWith("data:") && !request.url().startsWith("blob:")) wrong.push(`asks ${request.url()}`);
    });
    return { page, wrong };
  }

  async close(): Promise<void> {
    await this.browser?.close();
  }
}

/** What axe finds wrong, in words. */
export async function violations(page: Page): Promise<string[]> {
  const found = await page.evaluate(`(async () => {
    ${AXE};
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap((each) => each.nodes.map((node) => each.id + ": " + node.target.join(" ") + " " + (node.any[0]?.message ?? "")));
  })()`);
  return found as string[];
}
