import { useEffect, useState } from "preact/hooks";
import { signIn, signInProvider } from "../api/client";
import { BASE } from "../lib/route";
import { Trouble } from "../ui/states";

/** Where a sign-in at the provider begins; it comes back to the page that was asked for. */
function beginHref(): string {
  return `${BASE}/sign-in/begin?${new URLSearchParams({ to: location.pathname + location.search }).toString()}`;
}

/** Asks for a token, and changes it for a session; the page keeps no token. */
export function SignIn({ onDone }: { onDone: () => void }) {
  const [error, setError] = useState<Error | null>(null);
  const [token, setToken] = useState("");
  const [provider, setProvider] = useState<string | null>(null);
  useEffect(() => void signInProvider().then(setProvider, () => undefined), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await signIn({ token: token.trim() });
      onDone();
    } catch (found) {
      setError(found as Error);
    }
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>
          <img src="/console/icon.svg" alt="" width="22" height="22" /> Fairhold
        </h1>
        {provider && (
          <p>
            <a class="button primary" target="_self" href={beginHref()}>
              Sign in with {provider}
            </a>
          </p>
        )}
        <p>
          On the machine of the service, <code>fairhold console</code> opens this page signed in. Else give your token.
        </p>
        <label>
          Token
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        {error && <Trouble error={error} />}
        <button type="submit" class={provider ? "" : "primary"}>
          {provider ? "Sign in with a token" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
