/** What tests in a browser need; where it is not there, they are skipped, and this says why. */
import { existsSync } from "node:fs";

const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export const chromium = PLACES.find((place) => place && existsSync(place)) ?? "";

export default function setup(): void {
  if (chromium) return;
  const why = "There is no Chromium here: install it, or name it with CHROMIUM.";
  if (process.env.FAIRHOLD_BROWSER === "required") throw new Error(why);
  process.stderr.write(`The console is not tested in a browser. ${why}\n`);
}
