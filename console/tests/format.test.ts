import { describe, expect, it } from "vitest";
import { localOf } from "../src/lib/audit";
import { ago, amount, csv, duration, hereText, several } from "../src/lib/format";

describe("amounts", () => {
  it("are exact fractions in a text, or numbers", () => {
    expect([amount("5/4"), amount("2.5"), amount(3), amount(null)]).toEqual([1.25, 2.5, 3, 0]);
  });
  it("have their word in the right number", () => {
    expect([several(1, "task"), several(1234, "task")]).toEqual(["1 task", "1,234 tasks"]);
  });
});

describe("durations", () => {
  it.each([
    [0.4, "0 s"],
    [59.6, "1 min"],
    [200, "3 min 20 s"],
    [7500, "2 h 5 min"],
    [90000, "1 d 1 h"],
    [86400, "1 d"],
  ])("%d seconds is %s", (seconds, text) => expect(duration(seconds)).toBe(text));
  it("look back and ahead", () => {
    const now = Date.parse("2026-01-05T09:00:00Z");
    expect(ago("2026-01-05T08:59:00Z", now)).toBe("1 min ago");
    expect(ago("2026-01-05T09:00:30Z", now)).toBe("in 30 s");
  });
  it("stand on the reader's clock where the plan has another zone", () => {
    const instant = "2026-01-05T09:00:00.000Z";
    const here = localOf(instant);
    const later = localOf("2026-01-05T11:00:00Z");
    expect(hereText(instant, `${here}:00+00:00`)).toBe("");
    expect(hereText(instant, `${later}:00+02:00`)).toMatch(`${here.slice(11)}:00 on your clock`);
  });
});

describe("csv", () => {
  it("quotes what has to be quoted", () => {
    expect(csv([["a,b", 'say "x"', 1.5]])).toBe('"a,b","say ""x""",1.5\r\n');
  });
  it("lets no text be a formula", () => {
    expect(csv([["=1+1", "-2", "@x"]])).toBe("'=1+1,-2,'@x\r\n");
  });
});
