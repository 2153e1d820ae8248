import type { ComponentChildren } from "preact";
import { Refusal } from "../api/client";
import { count } from "../lib/format";
import type { Live } from "../store/live";

/** A text of the service, with what stands between backticks set as code. */
export function Told({ text }: { text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</>;
}

/** What is wrong and how to mend it, as the service says it. */
export function Trouble({ error }: { error: Error }) {
  if (!(error instanceof Refusal)) {
    return <p class="trouble">The service does not answer. This is tried again by itself.</p>;
  }
  if (error.status === 403) {
    return <p class="trouble">You have no right to see this. {error.message}</p>;
  }
  const faults = error.faults.length ? error.faults : [{ what: error.message, mend: "", code: error.code }];
  return (
    <div role="alert">
      <ul class="trouble">
        {faults.slice(0, 20).map((fault, at) => (
          <li key={at}>
            <Told text={fault.mend ? `${fault.what}; ${fault.mend}` : fault.what} /> <code>{fault.code}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The content of a live answer, or why there is none yet. What was seen stays while the service is away. */
export function Shown<T>({ live, children }: { live: Live<T>; children: (data: T) => ComponentChildren }) {
  if (live.data !== null) return <>{children(live.data)}</>;
  if (live.error) return <Trouble error={live.error} />;
  return (
    <div class="loading" aria-busy="true">
      <span class="visually-hidden">Loading</span>
      <i />
      <i />
      <i />
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** A state as a word with a colour of its own; the word alone says it. */
export function Pill({ state }: { state: string }) {
  return <span class={`pill ${state}`}>{state}</span>;
}

export function Panel({ title, side, children }: { title: string; side?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="panel">
      <header>
        <h2>{title}</h2>
        {side}
      </header>
      {children}
    </section>
  );
}

/** How many of a list are not shown; nothing where all are. */
export function restText(all: number, shown: number): string {
  return all > shown ? `and ${count(all - shown)} more` : "";
}

/** The same on the page. */
export function Rest({ all, shown }: { all: number; shown: number }) {
  const text = restText(all, shown);
  return text ? <small>{text}</small> : null;
}

export interface Fact {
  name: string;
  value: ComponentChildren;
  note?: ComponentChildren;
}

/** A few numbers with their names, side by side. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map((fact) => (
        <div key={fact.name}>
          <dt>{fact.name}</dt>
          <dd>
            {fact.value}
            {fact.note && <small>{fact.note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
