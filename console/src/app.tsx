import { useEffect, useState } from "preact/hooks";
import { signIn, signOut } from "./api/client";
import { listen, route, go, href } from "./lib/route";
import { offered, Page, PAGES } from "./pages/index";
import { SignIn } from "./pages/sign-in";
import { useMe } from "./store/me";
import { close, condition, open, watchVisibility } from "./store/link";
import { Lost } from "./ui/lost";
import { nextTheme, theme } from "./store/theme";

/** A one-time code of `fairhold console` stands in the fragment, which is sent to nobody. */
async function enter(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    history.replaceState(null, "", location.pathname + location.search);
    await signIn({ code }).catch(() => undefined);
  }
  open();
}

async function leave(): Promise<void> {
  close();
  await signOut().catch(() => undefined);
  condition.value = "out";
}

/** Keys: `/` goes to the search of the page, `g` and a letter to a page. */
function keys(): () => void {
  let isGoing = false;
  const press = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("input, textarea, select, [contenteditable]")) return;
    if (event.key === "/") {
      event.preventDefault();
      document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
    } else if (isGoing) {
      const page = PAGES.find((each) => each.letter === event.key);
      if (page) go(href(page.name));
    }
    isGoing = event.key === "g";
  };
  addEventListener("keydown", press);
  return () => removeEventListener("keydown", press);
}

function Navigation() {
  const here = route.value.page;
  const me = useMe().data;
  return (
    <nav aria-label="Pages">
      <a class="brand" href={href("cluster")}>
        <img src="/console/icon.svg" alt="" width="18" height="18" /> Fairhold
      </a>
      <ul>
        {offered(me).map((page) => (
          <li key={page.name}>
            <a
              href={href(page.name)}
              aria-current={here === page.name || page.also === here ? "page" : undefined}
              title={`${page.about} (keys: g ${page.letter})`}
            >
              {page.title}
            </a>
          </li>
        ))}
      </ul>
      <div class="foot">
        <button type="button" onClick={nextTheme} title="Light, dark, or as the system has it">
          Theme: {theme.value}
        </button>
        {me && (
          <span class="who" title={`Known by: ${me.via}`}>
            {me.user}
          </span>
        )}
        <button type="button" onClick={() => void leave()}>
          Sign out
        </button>
      </div>
    </nav>
  );
}

export function App() {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    listen();
    watchVisibility();
    void enter().then(() => setReady(true));
    return keys();
  }, []);
  if (!isReady) return null;
  if (condition.value === "out") return <SignIn onDone={open} />;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        To the content
      </a>
      <Navigation />
      <main id="main" tabIndex={-1}>
        <Lost />
        <Page />
      </main>
    </div>
  );
}
