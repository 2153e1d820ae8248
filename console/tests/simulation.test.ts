import { describe, expect, it } from "vitest";
import type { Schemas } from "../src/api/client";
import { cellOf, COLUMNS, courseOf, numberText, recordText, rowsOf, type Resource, type Simulated } from "../src/lib/simulation";

const numbers = (more: Partial<Schemas["Numbers"]> = {}): Schemas["Numbers"] => ({
  tasks: 4, finished: 4, notified: 0, stopped: 0, wait_mean: 10, wait_p95: 20, wait_max: 30, longest: 0,
  used: 2, borrowed: 0.5, deficit: 0, lost: 0, ...more,
});
const column = (key: string) => COLUMNS.find((each) => each.key === key)!;
const row = (before: Schemas["Numbers"] | null, after: Schemas["Numbers"] | null) => ({ consumer: "/A", before, after });

describe("a simulation", () => {
  it("says what came out better and what worse", () => {
    const shorter = row(numbers(), numbers({ wait_mean: 5, used: 1.5 }));
    expect(cellOf(shorter, column("wait_mean"))).toEqual({ before: "10 s", after: "5 s", how: "more" });
    expect(cellOf(shorter, column("used"))).toEqual({ before: "2", after: "1.5", how: "less" });
    expect(cellOf(shorter, column("finished")).how).toBe("");
    expect(cellOf(row(numbers(), numbers({ lost: 1 })), column("lost")).how).toBe("less");
  });

  it("takes numbers that read the same for the same, and tells who is not there", () => {
    expect(cellOf(row(numbers(), numbers({ used: 2.001 })), column("used")).how).toBe("");
    expect(cellOf(row(numbers(), null), column("used"))).toEqual({ before: "2", after: "–", how: "" });
    expect([numberText("time", 3725), numberText("hours", 1234.567), numberText("count", 9)]).toEqual(["1 h 2 min", "1,234.57", "9"]);
  });

  it("shows at first those alone of whom something differs", () => {
    const same = { ...row(numbers(), numbers()), consumer: "/B" };
    const resource = { consumers: [row(numbers(), numbers({ wait_p95: 1 })), same] } as unknown as Resource;
    expect(rowsOf(resource, true).map((each) => each.consumer)).toEqual(["/A"]);
    expect(rowsOf(resource, false)).toHaveLength(2);
  });

  it("has a course of one consumer, and of all together", () => {
    const of = (consumer: string, own: number[]) => ({ consumer, own, borrowed: own.map(() => 1), waiting: own.map(() => 0) });
    const outcome = { over_time: { from: "1970-01-01T00:01:00Z", step: 30, consumers: [of("A", [1, 2]), of("B", [3, 4])] } } as unknown as Schemas["Outcome"];
    expect(courseOf(outcome, "").times).toEqual([60, 90]);
    expect(courseOf(outcome, "").areas.map((each) => each.values)).toEqual([[4, 6], [2, 2]]);
    expect(courseOf(outcome, "B").areas[0]!.values).toEqual([3, 4]);
  });

  it("says whether the record came out as it was, and what is not known", () => {
    const found = {
      record: { jobs: 1200, ends: 3 }, as_recorded: { is_same: true, lines: 12 }, otherwise: { guessed: 2, passed_over: 0 },
    } as unknown as Simulated;
    expect(recordText(found)).toBe(
      "1,200 jobs came, 3 attempts ended; played as it was, all 12 decisions came out the same; " +
        "of 2 tasks it is not known how long they run, and they were taken to run as long as is usual.",
    );
  });
});
