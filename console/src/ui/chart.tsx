import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Series {
  name: string;
  /** Name of a custom property of the style sheet. */
  colour: string;
  values: readonly number[];
  isLine?: boolean;
}

/** Sums of series, so that each stands on those before it; the topmost is drawn first. */
export function stacked(series: readonly Series[]): number[][] {
  const sums: number[][] = [];
  for (const each of series) {
    const below = sums.at(-1);
    sums.push(each.values.map((value, at) => value + (below?.[at] ?? 0)));
  }
  return sums;
}

/** Marks of the time axis by the clock of 24 hours: days where the chart is of several. */
function timeMarks(_plot: unknown, marks: number[]): string[] {
  const isLong = (marks.at(-1) ?? 0) - (marks[0] ?? 0) > 2 * 86400;
  return marks.map((mark) => {
    const at = new Date(mark * 1000);
    return isLong ? `${at.getMonth() + 1}-${at.getDate()}` : at.toLocaleTimeString("en-GB").slice(0, 5);
  });
}

/** Areas on top of one another over time, and lines; `times` are seconds since 1970. */
export function Chart({ label, times, areas, lines = [], unit }: {
  label: string;
  times: readonly number[];
  areas: readonly Series[];
  lines?: readonly Series[];
  unit: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = box.current;
    if (!node) return;
    const colour = (name: string): string => {
      node.style.color = `var(${name})`; // as the theme has it: the property itself has both
      const found = getComputedStyle(node).color;
      node.style.color = "";
      return found;
    };
    const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const tops = stacked(areas).reverse();
    const drawn = [...areas].reverse();
    const plot = new uPlot(
      {
        width: node.clientWidth,
        height: 180,
        cursor: { y: false },
        legend: { show: false },
        scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.08)] } },
        axes: [{ ...axis, values: timeMarks }, { ...axis, size: 44, values: (_plot, ticks) => ticks.map((tick) => (tick % 1 ? tick.toFixed(1) : String(tick))) }],
        series: [
          {},
          ...drawn.map((each) => ({
            label: each.name,
            fill: colour(each.colour),
            stroke: colour(each.colour),
            width: 0,
            points: { show: false },
            paths: uPlot.paths.stepped!({ align: 1 }),
          })),
          ...lines.map((each) => ({
            label: each.name,
            stroke: colour(each.colour),
            width: 1.5,
            dash: [4, 3],
            points: { show: false },
            paths: uPlot.paths.stepped!({ align: 1 }),
          })),
        ],
      },
      [[...times], ...tops, ...lines.map((each) => [...each.values])],
      node,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: node.clientWidth, height: 180 }));
    watch.observe(node);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [times, areas, lines]);
  return (
    <figure class="chart" aria-label={label}>
      <div ref={box} />
      <figcaption>
        {[...areas, ...lines].map((each) => (
          <span key={each.name}>
            <i class={each.isLine ? "line" : ""} style={{ "--swatch": `var(${each.colour})` }} /> {each.name}
          </span>
        ))}
        <span class="unit">{unit}</span>
      </figcaption>
    </figure>
  );
}
