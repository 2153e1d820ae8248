import { duration } from "../lib/format";
import { condition, lostAt } from "../store/link";
import { useTick } from "../store/live";

/** Says that what is on the screen is old, and since when. */
export function Lost() {
  useTick();
  if (condition.value !== "lost") return null;
  return (
    <p class="lost" role="status">
      The connection to the service is lost. What you see is {duration((Date.now() - lostAt.value) / 1000)} old. It is
      tried again by itself.
    </p>
  );
}
