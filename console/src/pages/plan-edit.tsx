import { useEffect, useState } from "preact/hooks";
import { applyPlan, post, Refusal, type Fault, type Schemas } from "../api/client";
import { draftHref, encodeDraft, type Draft } from "../lib/draft";
import { setQuery } from "../lib/route";
import { Dialog } from "../ui/dialog";
import { Panel, Rest, Told, Trouble } from "../ui/states";
import { Editor } from "./plan-editor";
import { Effect, Foreseen } from "./plan-effect";
import { Simulate } from "./simulate";

type Plan = Schemas["Plan"];
type Diff = Schemas["Difference"];

/** Faults of a text, as the service finds them; asked when nobody types. */
function useFaults(text: string, isChanged: boolean): { faults: Fault[]; warnings: Fault[]; isChecked: boolean } {
  const [found, setFound] = useState({ faults: [] as Fault[], warnings: [] as Fault[], isChecked: false });
  useEffect(() => {
    if (!isChanged) {
      setFound({ faults: [], warnings: [], isChecked: false });
      return;
    }
    let isStale = false;
    setFound((was) => ({ ...was, isChecked: false }));
    const timer = setTimeout(() => {
      post("/v1/plan/check", {}, { text }).then(
        ({ faults, warnings }) => !isStale && setFound({ faults, warnings, isChecked: true }),
        (error: Error) => {
          const faults = error instanceof Refusal ? error.faults : [];
          if (!isStale) setFound({ faults, warnings: [], isChecked: true });
        },
      );
    }, 300);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [text, isChanged]);
  return found;
}

function FaultList({ faults, kind }: { faults: readonly Fault[]; kind: "trouble" | "warned" }) {
  if (!faults.length) return null;
  return (
    <div role="status">
      <ul class={kind}>
        {faults.slice(0, 30).map((fault, at) => (
          <li key={at}>
            {fault.line > 0 && `Line ${fault.line}: `}
            <Told text={`${fault.what}; ${fault.mend}`} /> <code>{fault.code}</code>
          </li>
        ))}
      </ul>
      <Rest all={faults.length} shown={30} />
    </div>
  );
}

interface Asked {
  text: string;
  version: number;
}

function Apply({ asked, onDone }: { asked: Asked; onDone: () => void }) {
  const [comment, setComment] = useState("");
  const [span, setSpan] = useState("");
  return (
    <Dialog
      title={`Put this plan in force after version ${asked.version}`}
      action="Put in force"
      isDangerous
      onDo={async () => {
        const more = span ? { for: span } : {};
        await applyPlan({ text: asked.text, comment, ...more }, asked.version, false);
        setQuery({ version: "" });
      }}
      onClose={onDone}
    >
      <p>It holds for everybody at once.</p>
      <label>
        Why, for everybody
        <input value={comment} required maxLength={500} onInput={(event) => setComment(event.currentTarget.value)} />
      </label>
      <label>
        For a time, as 2h or 3d; then this version comes back. Empty: until somebody changes it
        <input value={span} onInput={(event) => setSpan(event.currentTarget.value)} />
      </label>
      <Foreseen ask={() => applyPlan({ text: asked.text }, asked.version, true)} />
    </Dialog>
  );
}

function Preview({ text, version, isReady }: { text: string; version: number; isReady: boolean }) {
  const [state, setState] = useState<{ diff: Diff | null; error: Error | null; isBusy: boolean }>({ diff: null, error: null, isBusy: false });
  useEffect(() => setState({ diff: null, error: null, isBusy: false }), [text, version]);
  const look = (): void => {
    setState({ diff: null, error: null, isBusy: true });
    post("/v1/plan/diff", {}, { text, was: {}, next: "7d" }).then(
      (diff) => setState({ diff, error: null, isBusy: false }),
      (error: Error) => setState({ diff: null, error, isBusy: false }),
    );
  };
  return (
    <Panel
      title="What it would do"
      side={
        <button type="button" onClick={look} disabled={!isReady || state.isBusy}>
          {state.isBusy ? "Working it out…" : "Dry run"}
        </button>
      }
    >
      {state.error && <Trouble error={state.error} />}
      {state.diff && <Effect diff={state.diff} />}
      {!state.diff && !state.error && <p>Change the text, then look what that would do now and in the coming week. A dry run changes nothing.</p>}
    </Panel>
  );
}

/** Keeps the draft in the address, when nobody types. */
function useAddress(draft: Draft, isChanged: boolean): void {
  useEffect(() => {
    const timer = setTimeout(async () => {
      const hash = isChanged ? `#draft=${await encodeDraft(draft)}` : "";
      history.replaceState(null, "", location.pathname + location.search + hash);
    }, 400);
    return () => clearTimeout(timer);
  }, [draft.text, draft.version, isChanged]);
}

function Link({ draft }: { draft: Draft }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => setCopied(false), [draft.text]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(location.origin + (await draftHref(draft)));
    setCopied(true);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {isCopied ? "The link is copied" : "Copy a link to this draft"}
    </button>
  );
}

/** The text of a plan as a draft: nothing of it holds before it is put in force. */
export function Edit({ plan, draft, mayApply, maySimulate, onDone }: {
  plan: Plan;
  draft: Draft | null;
  mayApply: boolean;
  maySimulate: boolean;
  onDone: () => void;
}) {
  const [text, setText] = useState(draft?.text ?? plan.text);
  const [from, setFrom] = useState({ version: draft?.version ?? plan.version, text: plan.text });
  const [asked, setAsked] = useState<Asked | null>(null);
  const [wantsMarks, setMarks] = useState<boolean | null>(null);
  if (from.version !== plan.version && (text === from.text || text === plan.text)) {
    setFrom({ version: plan.version, text: plan.text }); // nothing of it differs: it goes along with the plan in force
    setText(plan.text);
  }
  const isChanged = text !== plan.text;
  const isOlder = isChanged && from.version !== plan.version;
  useAddress({ version: from.version, text }, isChanged);
  const isMarked = wantsMarks ?? (draft !== null || isOlder);
  const { faults, warnings, isChecked } = useFaults(text, isChanged);
  const isReady = isChanged && isChecked && faults.length === 0;
  return (
    <div class="columns spaced">
      <div>
        {isOlder && (
          <p class="warned" role="status">
            This draft was made from version {from.version}; version {plan.version} is in force by now, and what differs from it is marked.
          </p>
        )}
        <Editor
          key={`${plan.version} ${isMarked}`}
          text={text}
          {...(isMarked ? { original: plan.text } : {})}
          onChange={setText}
          faults={faults}
          warnings={warnings}
        />
        <FaultList faults={faults} kind="trouble" />
        <FaultList faults={warnings} kind="warned" />
        <div class="buttons left">
          {mayApply && (
            <button type="button" class="primary" disabled={!isReady} onClick={() => setAsked({ text, version: plan.version })}>
              Put in force…
            </button>
          )}
          <button type="button" aria-pressed={isMarked} onClick={() => setMarks(!isMarked)}>
            Mark what differs
          </button>
          {isChanged && <Link draft={{ version: from.version, text }} />}
          <button type="button" onClick={onDone}>
            {isChanged ? "Drop the changes" : "Leave it"}
          </button>
        </div>
      </div>
      <div>
        <Preview text={text} version={plan.version} isReady={isReady} />
        {maySimulate && <Simulate under="under this draft" what={text} textOf={() => Promise.resolve(text)} isReady={isReady} />}
      </div>
      {asked && (
        <Apply
          asked={asked}
          onDone={() => {
            setAsked(null);
            onDone();
          }}
        />
      )}
    </div>
  );
}
