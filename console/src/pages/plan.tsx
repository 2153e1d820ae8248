import { useEffect, useState } from "preact/hooks";
import { get, post, type Schemas } from "../api/client";
import { decodeDraft, type Brought } from "../lib/draft";
import { ago, several } from "../lib/format";
import { go, href, route, setQuery } from "../lib/route";
import { useLive, type Live } from "../store/live";
import { Dialog } from "../ui/dialog";
import { Panel, Shown, Trouble } from "../ui/states";
import { may, maySomewhere, useMe } from "../store/me";
import { Edit } from "./plan-edit";
import { Compare, Editor } from "./plan-editor";
import { Foreseen } from "./plan-effect";

type Plan = Schemas["Plan"];
type PlanHead = Schemas["PlanHead"];

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

function Revert({ to, version, onDone }: { to: number; version: number; onDone: () => void }) {
  const headers = { "if-match": `"${version}"` };
  const ask = () => post("/v1/plan/revert", { dry_run: true }, { to, comment: "", was: {} }, headers);
  return (
    <Dialog
      title={`Back to version ${to}`}
      action="Put in force"
      isDangerous
      onDo={async () => {
        await post("/v1/plan/revert", {}, { to, comment: "", was: {} }, headers);
        setQuery({ version: "", with: "" });
      }}
      onClose={onDone}
    >
      <Foreseen key={version} ask={ask} />
    </Dialog>
  );
}

/** What a version is compared with, by the query `with`; null: it is shown alone. */
function useOther(plan: Plan): Live<Plan | null> {
  const other = route.value.query.get("with") ?? "";
  return useLive(
    async (signal) => (other && other !== String(plan.version) ? get("/v1/plan/versions/{version}", { version: other }, signal) : null),
    [other, plan.version],
    () => false,
  );
}

function Reading({ plan, current, mayEdit, onEdit }: { plan: Plan; current: Plan; mayEdit: boolean; onEdit: () => void }) {
  const [isBack, setBack] = useState(false);
  const isOld = plan.version !== current.version;
  const other = useOther(plan).data;
  const compare = (version: number): void => setQuery({ version: isOld ? String(plan.version) : "", with: String(version) });
  return (
    <>
      <p class="under">
        Version {plan.version} by {plan.author}, {ago(plan.at)}
        {plan.comment && `: ${plan.comment}`}
        {plan.until && `; the version before comes back ${ago(plan.until)}`}
      </p>
      <div class="buttons left">
        {!isOld && mayEdit && (
          <button type="button" class="primary" onClick={onEdit}>
            Edit
          </button>
        )}
        {isOld && (
          <button type="button" onClick={() => compare(current.version)}>
            Compare with version {current.version}
          </button>
        )}
        {plan.version > 1 && (
          <button type="button" onClick={() => compare(plan.version - 1)}>
            What it changed
          </button>
        )}
        {other && (
          <button type="button" onClick={() => setQuery({ with: "" })}>
            Text alone
          </button>
        )}
        {isOld && mayEdit && (
          <button type="button" class="danger" onClick={() => setBack(true)}>
            Back to this version…
          </button>
        )}
      </div>
      {other ? (
        <>
          <p class="under">
            From version {Math.min(plan.version, other.version)} to version {Math.max(plan.version, other.version)}:
          </p>
          <Compare
            key={`${plan.version} ${other.version}`}
            before={other.version < plan.version ? other.text : plan.text}
            after={other.version < plan.version ? plan.text : other.text}
          />
        </>
      ) : (
        <Editor key={plan.version} text={plan.text} faults={[]} warnings={[]} />
      )}
      {isBack && <Revert to={plan.version} version={current.version} onDone={() => setBack(false)} />}
    </>
  );
}

const APPLIED = "PlanApplied";

/** The draft that an address brings; what is typed later does not come back as one. */
function useDraft(hash: string): Brought {
  const [brought, setBrought] = useState<Brought>({ draft: null, isDamaged: false });
  useEffect(() => {
    void decodeDraft(hash).then(setBrought);
  }, [hash]);
  return brought;
}

/** The plan: read, compared, changed, put back. */
export function PlanPage() {
  const version = route.value.query.get("version") ?? "";
  const me = useMe().data;
  const mayEdit = maySomewhere(me, "edit_plan");
  const [isEdited, setEdited] = useState(false);
  const { draft, isDamaged } = useDraft(route.value.hash);
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
          if ((isEdited || draft) && !version) {
            const leave = (): void => {
              setEdited(false);
              go(href("plan"), true);
            };
            return <Edit key={draft?.text ?? ""} plan={plan} draft={draft} mayApply={mayEdit} maySimulate={may(me, "view", "/")} onDone={leave} />;
          }
          return (
            <div class="columns wide-left">
              <div>
                {isDamaged && (
                  <p class="trouble" role="alert">
                    The link to a draft is damaged: part of it is missing or was changed on its way. You see the plan in force; ask for the link again.
                  </p>
                )}
                <Reading plan={shown} current={plan} mayEdit={mayEdit} onEdit={() => setEdited(true)} />
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
