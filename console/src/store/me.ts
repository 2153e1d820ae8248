/** Who looks at the console, and what he may do: what he may not is not offered. */
import { get, type Schemas } from "../api/client";
import { useLive, type Live } from "./live";

export type Me = Schemas["Me"];

/** Asked once for each session, and again when the connection was made anew. */
export function useMe(): Live<Me> {
  return useLive((signal) => get("/v1/me", {}, signal), [], () => false);
}

/** Whether somebody has a permission for a consumer; `/`: for the whole cluster. */
export function may(me: Me | null, permission: string, path: string): boolean {
  const paths = me?.permissions[permission] ?? [];
  return paths.some((each) => `${path}/`.startsWith(`${each.replace(/\/$/, "")}/`));
}

/** Whether somebody has a permission somewhere. */
export function maySomewhere(me: Me | null, permission: string): boolean {
  return (me?.permissions[permission] ?? []).length > 0;
}
