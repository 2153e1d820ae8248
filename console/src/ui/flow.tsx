import { amount, count, several } from "../lib/format";
import { consumerHref } from "../lib/route";
import { layOut, type Pair, type Side } from "../lib/flow";

const LINE = 26;

function List({ side, mine, word }: { side: readonly Side[]; mine: (path: string) => boolean; word: string }) {
  return (
    <ul>
      {side.map(({ path, units }) => (
        <li key={path} style={{ height: `${LINE}px` }}>
          {path.startsWith("/") && path !== "/" ? (
            <a href={consumerHref(path)}>{mine(path) ? <strong>{path}</strong> : path}</a>
          ) : (
            <span>{path === "/" ? "owned by nobody" : path}</span>
          )}
          <span class="number">
            {word} {count(units)}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Lenders on the left, borrowers on the right; each band is what one lends to another. */
export function Flow({ pairs, mine }: { pairs: readonly Pair[]; mine: (path: string) => boolean }) {
  const { lenders, borrowers, bands, more } = layOut(pairs, LINE);
  const height = Math.max(lenders.length, borrowers.length) * LINE;
  return (
    <>
      <div class="flow">
        <List side={lenders} mine={mine} word="lends" />
        <svg viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" style={{ height: `${height}px` }} role="img" aria-label={pairs.map(pairText).join("; ")}>
          {bands.map(({ pair, path }) => (
            <path key={`${pair.lender} ${pair.borrower}`} class={`band ${mine(pair.borrower) ? "out" : ""}`} d={path}>
              <title>{pairText(pair)}</title>
            </path>
          ))}
        </svg>
        <List side={borrowers} mine={mine} word="borrows" />
      </div>
      {more > 0 && <small>and {several(more, "smaller pair")}</small>}
    </>
  );
}

function pairText({ lender, borrower, units }: Pair): string {
  return `${lender === "/" ? "nobody" : lender} lends ${borrower} ${count(amount(units))}`;
}
