import { useEffect, useState } from "preact/hooks";
import { applyPlan, get, post, Refusal, type Fault, type Schemas } from "../api/client";
import { ago, several } from "../lib/format";
import { href, route, setQuery } from "../lib/route";
import { useLive } from "../store/live";
import { Dialog } from "../ui/dialog";
import { Panel, Shown, Told, Trouble } from "../ui/states";
import { Compare, Editor } from "./plan-editor";
import { Effect } from "./plan-effect";

type Plan = Schemas["Plan"];
type PlanHead = Schemas["PlanHead"];
type Diff = Schemas["Difference"];

function Versions({ plans, shown }: { plans: readonly PlanHead[]; shown: number }) {
  const newest = plans[0]?.version ?? 0;
  return (
    <Panel title="Versions">
      <table class="plain">
        <tbody>
          {plans.map((plan) => (
            <tr key={plan.version} class={plan.version === shown ? "mine" : ""}>
              <td class="number">
                <a href={href("plan", "", plan.version === newest ? {} : { version: String(plan.version) })}>{plan.version}</a>
              </td>
              <td>
                {plan.author}, {ago(plan.at)}
                {plan.until && `, until ${ago(plan.until)}`}
                <br />
                <small>{plan.comment}</small>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

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
      <p>It holds for everybody at once. What it stops, and whom, is said in the preview beside the editor.</p>
      <label>
        Why, for everybody
        <input value={comment} required maxLength={500} onInput={(event) => setComment(event.currentTarget.value)} />
      </label>
      <label>
        For a time, as 2h or 3d; then this version comes back. Empty: until somebody changes it
        <input value={span} onInput={(event) => setSpan(event.currentTarget.value)} />
      </label>
    </Dialog>
  );
}

function Revert({ to, version, onDone }: { to: number; version: number; onDone: () => void }) {
  const [diff, setDiff] = useState<Diff | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const headers = { "if-match": `"${version}"` };
  useEffect(() => {
    post("/v1/plan/revert", { dry_run: true }, { to, comment: "", was: {} }, headers).then((found) => setDiff(found.diff), setError);
  }, [to, version]);
  return (
    <Dialog
      title={`Back to version ${to}`}
      action="Put in force"
      isDangerous
      onDo={async () => {
        await post("/v1/plan/revert", {}, { to, comment: "", was: {} }, headers);
        setQuery({ version: "", view: "" });
      }}
      onClose={onDone}
    >
      {error && <Trouble error={error} />}
      {diff ? <Effect diff={diff} /> : !error && <p>What it would do is being worked out…</p>}
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

function Edit({ plan, onDone }: { plan: Plan; onDone: () => void }) {
  const [text, setText] = useState(plan.text);
  const [asked, setAsked] = useState<Asked | null>(null);
  const isChanged = text !== plan.text;
  const { faults, warnings, isChecked } = useFaults(text, isChanged);
  const isReady = isChanged && isChecked && faults.length === 0;
  return (
    <div class="columns spaced">
      <div>
        <Editor key={plan.version} text={plan.text} onChange={setText} faults={faults} warnings={warnings} />
        <FaultList faults={faults} kind="trouble" />
        <FaultList faults={warnings} kind="warned" />
        <div class="buttons left">
          <button type="button" class="primary" disabled={!isReady} onClick={() => setAsked({ text, version: plan.version })}>
            Put in force…
          </button>
          <button type="button" onClick={onDone}>
            {isChanged ? "Drop the changes" : "Leave it"}
          </button>
        </div>
      </div>
      <Preview text={text} version={plan.version} isReady={isReady} />
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

function Reading({ plan, current, onEdit }: { plan: Plan; current: Plan; onEdit: () => void }) {
  const [isBack, setBack] = useState(false);
  const isOld = plan.version !== current.version;
  const isCompared = route.value.query.get("view") === "compare";
  return (
    <>
      <p class="under">
        Version {plan.version} by {plan.author}, {ago(plan.at)}
        {plan.comment && `: ${plan.comment}`}
        {plan.until && `; the version before comes back ${ago(plan.until)}`}
      </p>
      <div class="buttons left">
        {isOld ? (
          <>
            <button type="button" onClick={() => setQuery({ view: isCompared ? "" : "compare" })}>
              {isCompared ? "Text alone" : `Compare with version ${current.version}`}
            </button>
            <button type="button" class="danger" onClick={() => setBack(true)}>
              Back to this version…
            </button>
          </>
        ) : (
          <button type="button" class="primary" onClick={onEdit}>
            Edit
          </button>
        )}
      </div>
      {isOld && isCompared ? (
        <Compare key={`${plan.version} ${current.version}`} before={plan.text} after={current.text} />
      ) : (
        <Editor key={plan.version} text={plan.text} faults={[]} warnings={[]} />
      )}
      {isBack && <Revert to={plan.version} version={current.version} onDone={() => setBack(false)} />}
    </>
  );
}

const APPLIED = "PlanApplied";

/** The plan: read, compared, changed, put back. */
export function PlanPage() {
  const version = route.value.query.get("version") ?? "";
  const [isEdited, setEdited] = useState(false);
  const isMeant = (told: { kind: string }): boolean => told.kind === APPLIED;
  const current = useLive((signal) => get("/v1/plan", {}, signal), [], isMeant);
  const versions = useLive((signal) => get("/v1/plan/versions", { limit: 50 }, signal), [], isMeant);
  const old = useLive(
    async (signal) => (version ? get("/v1/plan/versions/{version}", { version }, signal) : null),
    [version],
    () => false,
  );
  return (
    <div class="page">
      <h1>Plan</h1>
      <Shown live={current}>
        {(plan) => {
          const shown = version && old.data ? old.data : plan;
          if (isEdited && !version) return <Edit key={plan.version} plan={plan} onDone={() => setEdited(false)} />;
          return (
            <div class="columns wide-left">
              <div>
                <Reading plan={shown} current={plan} onEdit={() => setEdited(true)} />
              </div>
              <Shown live={versions}>
                {(found) =>
                  found.versions.length ? <Versions plans={found.versions} shown={shown.version} /> : <p>{several(0, "version")}</p>
                }
              </Shown>
            </div>
          );
        }}
      </Shown>
      {old.error && <Trouble error={old.error} />}
    </div>
  );
}
