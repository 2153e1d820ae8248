import { count, several } from "../lib/format";
import { consumerHref } from "../lib/route";
import { lastName, type Numbers } from "../lib/tree";

const LINE = 26;
const MOST = 12;

interface Side {
  /** Empty: somebody who is none of these. */
  path: string;
  units: number;
}

/** Sides that are equally large: what is lent across the border of the group has a line of its own. */
export function balanced(lenders: readonly Numbers[], borrowers: readonly Numbers[]): [Side[], Side[], number] {
  const left = lenders.map((each) => ({ path: each.path, units: each.lent }));
  const right = borrowers.map((each) => ({ path: each.path, units: each.borrowed }));
  const [lent, borrowed] = [left, right].map((side) => side.reduce((all, each) => all + each.units, 0)) as [number, number];
  if (lent < borrowed) left.push({ path: "", units: borrowed - lent });
  if (borrowed < lent) right.push({ path: "", units: lent - borrowed });
  return [left, right, Math.max(lent, borrowed)];
}

/** A band from a row to its part of the middle, whose height is what is lent in all. */
function bands(side: readonly Side[], height: number, total: number, isLeft: boolean): string[] {
  let sum = 0;
  return side.map(({ units }, at) => {
    const thick = Math.max(2, (18 * units) / Math.max(1, total));
    const row = at * LINE + LINE / 2;
    const top = height / 2 - 9 + (18 * sum) / Math.max(1, total);
    sum += units;
    const [from, to] = isLeft ? [0, 50] : [100, 50];
    const middle = (from + to) / 2;
    const end = top + thick;
    return `M${from},${row - thick / 2} C${middle},${row - thick / 2} ${middle},${top} ${to},${top} L${to},${end} C${middle},${end} ${middle},${row + thick / 2} ${from},${row + thick / 2} Z`;
  });
}

function List({ side, mine, word }: { side: readonly Side[]; mine: string; word: string }) {
  return (
    <ul>
      {side.map(({ path, units }) => (
        <li key={path} style={{ height: `${LINE}px` }}>
          {path ? (
            <a href={consumerHref(path)}>{path === mine ? <strong>{lastName(path)}</strong> : lastName(path)}</a>
          ) : (
            <span>others</span>
          )}
          <span class="number">
            {word} {count(units)}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Lenders on the left, borrowers on the right. What is lent is one pool: no slot is lent to somebody by name. */
export function Flow({ title, lenders, borrowers, mine }: {
  title: string;
  lenders: readonly Numbers[];
  borrowers: readonly Numbers[];
  mine: string;
}) {
  const [allLeft, allRight, total] = balanced(lenders, borrowers);
  const [left, right] = [allLeft.slice(0, MOST), allRight.slice(0, MOST)];
  const height = Math.max(left.length, right.length, 1) * LINE;
  const more = allLeft.length + allRight.length - left.length - right.length;
  return (
    <>
      <p>
        {title}, {count(total)} are lent.
      </p>
      <div class="flow">
        <List side={left} mine={mine} word="lends" />
        <svg viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" style={{ height: `${height}px` }} aria-hidden="true">
          {bands(left, height, total, true).map((path, at) => (
            <path key={at} class="band" d={path} />
          ))}
          {bands(right, height, total, false).map((path, at) => (
            <path key={at} class="band out" d={path} />
          ))}
        </svg>
        <List side={right} mine={mine} word="borrows" />
      </div>
      {more > 0 && <small>and {several(more, "smaller one")}</small>}
    </>
  );
}
