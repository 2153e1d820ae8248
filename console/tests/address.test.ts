import { describe, expect, it } from "vitest";
import { address, Refusal } from "../src/api/client";
import { noteServerTime, serverNow } from "../src/lib/clock";
import { href, parse } from "../src/lib/route";
import { Reader } from "../src/lib/sse";
import { mayPass } from "../src/store/live";

describe("addresses", () => {
  it("survive being sent to a colleague", () => {
    const target = href("consumers", "/Trading/A & B/ü%", { group: "compute", find: "" });
    const url = new URL(target, "http://service");
    const found = parse(url.pathname, url.search);
    expect([found.page, found.rest, found.query.get("group"), found.query.has("find")]).toEqual(
      ["consumers", "Trading/A & B/ü%", "compute", false],
    );
  });
  it("are read as they stand where they were cut on their way", () => {
    expect([parse("/console/jobs/%E0%A4", "").rest, parse("/console/%zz/1", "").page]).toEqual(["%E0%A4", "%zz"]);
  });
  it("begin at the cluster", () => expect(parse("/console/", "").page).toBe("cluster"));
  it("of the API have their names filled in and the rest as query", () => {
    expect(address("/v1/jobs/{job}/tasks", { job: "1/2", limit: 5, all: true, cursor: "", user: undefined })).toBe(
      "/v1/jobs/1%2F2/tasks?limit=5&all=1",
    );
  });
});

describe("the stream of events", () => {
  it("may be cut anywhere", () => {
    const text = ': fairhold\n\nid: 7\nevent: Started\ndata: {"seq":7}\n\n: beat\n\nid: 8\nevent: Ended\ndata: {"seq":8}\n\n';
    for (let cut = 0; cut < text.length; cut++) {
      const reader = new Reader();
      const told = [...reader.take(text.slice(0, cut)), ...reader.take(text.slice(cut))];
      expect(told.map((each) => [each.id, each.kind])).toEqual([["7", "Started"], ["8", "Ended"]]);
    }
  });
});

describe("the service's time", () => {
  it("counts where the clock of the browser is wrong", () => {
    noteServerTime("Mon, 05 Jan 2026 09:00:00 GMT", Date.parse("2026-01-05T08:00:00Z"));
    expect(serverNow() - Date.now()).toBeGreaterThan(3_500_000);
    noteServerTime("Mon, 05 Jan 2026 09:00:00 GMT", Date.parse("2026-01-05T09:00:01Z"));
    expect(Math.abs(serverNow() - Date.now())).toBeLessThan(50);
  });
});

describe("a request that failed", () => {
  it("is tried again where that may help", () => {
    const codes = ["unknown-job", "no-token", "forecast-too-long", "too-many", "stopping"];
    expect(codes.map((code) => mayPass(new Refusal(503, code, [], "")))).toEqual([false, false, false, true, true]);
    expect(mayPass(new TypeError("nobody answers"))).toBe(true);
  });
});
