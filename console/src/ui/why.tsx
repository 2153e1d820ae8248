import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";

/** A number that can be asked why: its explanation is read when it is asked for. */
export function Why({ what, value, children }: { what: string; value: ComponentChildren; children: () => ComponentChildren }) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const toggle = (): void => {
    const node = panel.current;
    const from = button.current?.getBoundingClientRect();
    if (!node || !from) return;
    node.togglePopover();
    const width = Math.min(560, innerWidth - 24);
    node.style.width = `${width}px`;
    node.style.left = `${Math.max(12, Math.min(from.left, innerWidth - width - 12))}px`;
    const isLow = from.bottom > innerHeight * 0.6;
    node.style.top = isLow ? "auto" : `${from.bottom + 6}px`;
    node.style.bottom = isLow ? `${innerHeight - from.top + 6}px` : "auto";
    node.style.maxHeight = `${(isLow ? from.top : innerHeight - from.bottom) - 24}px`;
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="why"
        aria-label={`Why ${what}?`}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={toggle}
      >
        {value}
      </button>
      <div
        ref={panel}
        id={id}
        class="why-panel"
        popover="auto"
        role="dialog"
        aria-label={`Why ${what}`}
        onToggle={(event) => setOpen((event as unknown as ToggleEvent).newState === "open")}
      >
        {isOpen && children()}
      </div>
    </>
  );
}
