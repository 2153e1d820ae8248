import { useState } from "preact/hooks";
import { signIn } from "../api/client";
import { Trouble } from "../ui/states";

/** Asks for a token, and changes it for a session; the page keeps no token. */
export function SignIn({ onDone }: { onDone: () => void }) {
  const [error, setError] = useState<Error | null>(null);
  const [token, setToken] = useState("");
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
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </main>
  );
}
