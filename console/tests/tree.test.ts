import { describe, expect, it } from "vitest";
import type { Schemas } from "../src/api/client";
import { closedAtFirst, numbersOf, scaleOf, shownRows, type Numbers } from "../src/lib/tree";
import { partsOf } from "../src/ui/bar";

const NOBODY: Schemas["Consumer"] = {
  path: "/A", leaf: true, rank: 0, owned: 0, reserved: 0, limit: null, quota: 0, demand: 0, allocated: 0, borrowed: 0,
  lent: 0, reclaiming: 0, coming: 0, running: 0, waiting: 0, users: {}, user_limit: null, budget: null, amounts: null,
  queue: null,
};

function row(path: string, changes: Partial<Schemas["Consumer"]> = {}): Numbers {
  return numbersOf({ ...NOBODY, path, ...changes }, "");
}

describe("numbers of a consumer", () => {
  it("tell own from borrowed, and lent from idle", () => {
    const lender = row("/A", { owned: 10, allocated: 4, lent: 5 });
    expect([lender.own, lender.borrowed, lender.lent, lender.idle]).toEqual([4, 0, 5, 1]);
    const borrower = row("/B", { owned: 2, allocated: 7, borrowed: 5 });
    expect([borrower.own, borrower.borrowed, borrower.idle]).toEqual([2, 5, 0]);
  });
  it("are those of one resource where hosts are shared", () => {
    const amounts = { owned: { gpu: 4 }, allocated: { gpu: "9/2" }, borrowed: { gpu: "1/2" }, lent: {}, waiting: { gpu: 1 }, reclaiming: {}, entitled: {} };
    const found = numbersOf({ ...NOBODY, amounts }, "gpu");
    expect([found.owned, found.own, found.borrowed, found.waiting]).toEqual([4, 4, 0.5, 1]);
  });
});

describe("parts of a bar", () => {
  it("make up all that it holds, and notice comes off the borrowed first", () => {
    const parts = partsOf(row("/A", { owned: 2, allocated: 6, borrowed: 4, reclaiming: 5, waiting: 3 }));
    expect(parts).toEqual([
      { kind: "own", width: 1 },
      { kind: "own-notice", width: 1 },
      { kind: "borrowed-notice", width: 4 },
      { kind: "waiting", width: 3 },
    ]);
  });
});

describe("rows that are shown", () => {
  const rows = ["/A", "/A/B", "/A/B/C", "/AB", "/D", "/D/B"].map((path) => row(path, { leaf: false }));
  const paths = (found: Numbers[]): string[] => found.map((each) => each.path);
  it("leave out what is below a closed one, and nothing beside it", () => {
    expect(paths(shownRows(rows, new Set(["/A"]), ""))).toEqual(["/A", "/AB", "/D", "/D/B"]);
  });
  it("are, with a text, those that have it and all above them", () => {
    expect(paths(shownRows(rows, new Set(["/A"]), "b/c"))).toEqual(["/A", "/A/B", "/A/B/C"]);
    expect(paths(shownRows(rows, new Set(), "nobody"))).toEqual([]);
  });
  it("are few at first where there are many", () => {
    expect(closedAtFirst(rows, 3).has("/A")).toBe(true);
    expect(closedAtFirst(rows, 30).size).toBe(0);
  });
});

describe("flows", () => {
  it("have a scale of the widest bar", () => {
    expect(scaleOf([row("/A", { owned: 4, limit: 1000 }), row("/B", { allocated: 7, borrowed: 7 })])).toBe(16);
    expect(scaleOf([])).toBe(1);
  });
});
