import { count } from "../lib/format";
import type { Numbers } from "../lib/tree";

interface Part {
  kind: "own" | "own-notice" | "lent" | "idle" | "borrowed" | "borrowed-notice" | "waiting";
  width: number;
}

/** Parts of a bar from the left: what it owns first, what it borrowed behind; notice comes off the borrowed first. */
export function partsOf(numbers: Numbers): Part[] {
  const { own, borrowed, lent, idle, waiting, reclaiming } = numbers;
  const noticed = Math.min(borrowed, reclaiming);
  const ownNoticed = Math.min(own, reclaiming - noticed);
  const parts: Part[] = [
    { kind: "own", width: own - ownNoticed },
    { kind: "own-notice", width: ownNoticed },
    { kind: "lent", width: lent },
    { kind: "idle", width: idle },
    { kind: "borrowed", width: borrowed - noticed },
    { kind: "borrowed-notice", width: noticed },
    { kind: "waiting", width: waiting },
  ];
  return parts.filter((part) => part.width > 0);
}

/** What a bar says, in words. */
export function barText(numbers: Numbers): string {
  const said = [
    `owns ${count(numbers.owned)}`,
    `uses ${count(numbers.own)} of them`,
    numbers.borrowed && `borrows ${count(numbers.borrowed)}`,
    numbers.lent && `lends ${count(numbers.lent)}`,
    numbers.reclaiming && `${count(numbers.reclaiming)} under notice`,
    numbers.waiting && `${count(numbers.waiting)} waiting`,
    numbers.limit !== null && `limit ${count(numbers.limit)}`,
  ];
  return said.filter(Boolean).join(", ");
}

/** A consumer as a bar; `scale` units fill it, and what goes beyond is cut off. */
export function Bar({ numbers, scale, label }: { numbers: Numbers; scale: number; label?: string }) {
  const share = (units: number): string => `${Math.min(100, (100 * units) / scale)}%`;
  const text = barText(numbers);
  return (
    <div class="bar" role="img" aria-label={`${label ?? numbers.path}: ${text}`} title={text}>
      {partsOf(numbers).map((part) => (
        <span key={part.kind} class={`part ${part.kind}`} style={{ width: share(part.width) }} />
      ))}
      {numbers.owned > 0 && <i class="mark owned" style={{ left: share(numbers.owned) }} />}
      {numbers.limit !== null && numbers.limit <= scale && <i class="mark limit" style={{ left: share(numbers.limit) }} />}
    </div>
  );
}

const WORDS: [string, string][] = [
  ["own", "owned, in use"],
  ["idle", "owned, idle"],
  ["lent", "lent out"],
  ["borrowed", "borrowed"],
  ["borrowed-notice", "under notice"],
  ["waiting", "waiting"],
];

export function Legend() {
  return (
    <ul class="legend" aria-label="Colours of the bars">
      {WORDS.map(([kind, word]) => (
        <li key={kind}>
          <span class={`part ${kind}`} /> {word}
        </li>
      ))}
      <li>
        <i class="mark owned" /> owns
      </li>
      <li>
        <i class="mark limit" /> limit
      </li>
    </ul>
  );
}
