import { useEffect, useState } from "preact/hooks";
import { route, setQuery } from "../lib/route";

/** A part of the address that somebody types; it counts when they pause. */
export function Typed({ name, label }: { name: string; label: string }) {
  const now = route.value.query.get(name) ?? "";
  const [text, setText] = useState(now);
  useEffect(() => setText(now), [now]);
  useEffect(() => {
    if (text === now) return;
    const timer = setTimeout(() => setQuery({ [name]: text }), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label>
      {label}{" "}
      <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
    </label>
  );
}
