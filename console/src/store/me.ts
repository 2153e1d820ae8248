/** Who looks at the console, and what he may do: what he may not is not offered. */
import { get, type Schemas } from "../api/client";
import { useLive, type Live } from "./live";

export type Me = Schemas["Me"];

/** Asked once for each session, and again when the connection was made anew. */
export function useMe(): Live<Me> {
  return useLive((signal) => get("/v1/me", {}, signal), [], () => false);
}

/** Whether somebody has a permission for the whole cluster. */
export function mayEverywhere(me: Me | null, permission: string): boolean {
  return me?.permissions[permission]?.includes("/") ?? false;
}
