/** Light, dark, or as the system has it; the choice is kept in this browser. */
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const KEY = "fairhold-theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>("system");

export function applyTheme(): void {
  const kept = localStorage.getItem(KEY) as Theme | null;
  theme.value = kept && THEMES.includes(kept) ? kept : "system";
  show();
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  localStorage.setItem(KEY, theme.value);
  show();
}

function show(): void {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
