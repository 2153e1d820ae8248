import { clock, count, duration } from "../lib/format";

export interface Mark {
  /** Milliseconds since 1970. */
  at: number;
  units: number;
  text: string;
}

/** Where marks stand between 0 and 100, and how large they are by the largest. */
export function placed(marks: readonly Mark[], from: number): { mark: Mark; left: number; size: number }[] {
  const last = Math.max(from + 1000, ...marks.map((mark) => mark.at));
  const most = Math.max(1, ...marks.map((mark) => mark.units));
  return marks.map((mark) => ({
    mark,
    left: (100 * Math.max(0, mark.at - from)) / (last - from),
    size: 6 + 10 * Math.sqrt(mark.units / most),
  }));
}

/** Instants on a line from now on; a larger dot is of more. */
export function TimeMarks({ label, from, marks }: { label: string; from: number; marks: readonly Mark[] }) {
  if (!marks.length) return null;
  const found = placed(marks, from);
  return (
    <figure class="time-marks" aria-label={label}>
      <ol>
        {found.map(({ mark, left, size }) => {
          const text = `${clock(mark.at, from)}, ${duration((mark.at - from) / 1000)} from now: ${mark.text}`;
          return (
            <li key={mark.at} style={{ left: `${left}%` }} title={text}>
              <i style={{ width: `${size}px`, height: `${size}px` }} />
              <span class="visually-hidden">{text}</span>
              <small aria-hidden="true">{count(mark.units)}</small>
            </li>
          );
        })}
      </ol>
      <figcaption>
        <span>now</span>
        <span>{clock(Math.max(...marks.map((mark) => mark.at)), from)}</span>
      </figcaption>
    </figure>
  );
}
