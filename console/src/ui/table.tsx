import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Column<Row> {
  key: string;
  head: ComponentChildren;
  /** Of a grid's column: `6rem`, `minmax(10rem, 1fr)`. */
  width: string;
  cell: (row: Row) => ComponentChildren;
  isNumber?: boolean;
  /** Left out on narrow screens. */
  isMinor?: boolean;
}

interface Props<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** How many there are in all, where not all of them are here. */
  total?: number;
  /** Called when the end of the rows comes near. */
  onEnd?: () => void;
  empty: ComponentChildren;
  rowClass?: (row: Row) => string;
}

const HEIGHT = 30;
const MARGIN = 10;
const NARROW = 720;

/** A table of which only the rows in sight exist: a hundred thousand scroll as ten do. */
export function Table<Row>({ label, columns, rows, rowKey, total, onEnd, empty, rowClass }: Props<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600, width: 1200 });
  useLayoutEffect(() => {
    const node = box.current;
    if (!node) return;
    const measure = (): void =>
      setView({ top: node.scrollTop, height: node.clientHeight || 600, width: node.clientWidth || 1200 });
    const watch = new ResizeObserver(measure);
    watch.observe(node);
    node.addEventListener("scroll", measure, { passive: true });
    measure();
    return () => {
      watch.disconnect();
      node.removeEventListener("scroll", measure);
    };
  }, []);
  const top = Math.min(view.top, Math.max(0, rows.length * HEIGHT - view.height)); // rows may be fewer than a moment ago
  const first = Math.max(0, Math.floor(top / HEIGHT) - MARGIN);
  const last = Math.min(rows.length, Math.ceil((top + view.height) / HEIGHT) + MARGIN);
  useEffect(() => {
    if (onEnd && last >= rows.length - MARGIN) onEnd();
  }, [last, rows.length, onEnd]);
  const shown = columns.filter((column) => !column.isMinor || view.width >= NARROW);
  const template = { gridTemplateColumns: shown.map((column) => column.width).join(" ") };
  return (
    <div class="table" role="table" aria-label={label} aria-rowcount={(total ?? rows.length) + 1}>
      <div class="scroll" ref={box} tabIndex={0} role="rowgroup">
        <div class="row head" role="row" style={template} aria-rowindex={1}>
          {shown.map((column) => (
            <div key={column.key} role="columnheader" class={column.isNumber ? "number" : ""}>
              {column.head}
            </div>
          ))}
        </div>
        <div role="presentation" style={{ height: `${first * HEIGHT}px` }} />
        {rows.slice(first, last).map((row, at) => (
          <div
            key={rowKey(row)}
            class={`row ${rowClass?.(row) ?? ""}`}
            role="row"
            style={template}
            aria-rowindex={first + at + 2}
          >
            {shown.map((column) => (
              <div key={column.key} data-key={column.key} role="cell" class={column.isNumber ? "number" : ""}>
                {column.cell(row)}
              </div>
            ))}
          </div>
        ))}
        <div role="presentation" style={{ height: `${(rows.length - last) * HEIGHT}px` }} />
        {rows.length === 0 && (
          <div role="row" class="empty-row">
            <div role="cell">{empty}</div>
          </div>
        )}
      </div>
    </div>
  );
}
