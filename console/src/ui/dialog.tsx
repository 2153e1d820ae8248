import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Trouble } from "./states";

interface Props {
  title: string;
  /** What the button does, as a verb. */
  action: string;
  isDangerous?: boolean;
  children: ComponentChildren;
  onDo: () => Promise<void>;
  onClose: () => void;
}

/** Says what would be done, to whom, before it is done. */
export function Dialog({ title, action, isDangerous, children, onDo, onClose }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => box.current?.showModal(), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await onDo();
      onClose();
    } catch (found) {
      setError(found as Error);
      setBusy(false);
    }
  };
  return (
    <dialog ref={box} aria-label={title} onClose={onClose}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        {error && <Trouble error={error} />}
        <div class="buttons">
          <button type="button" onClick={() => box.current?.close()}>
            Leave it
          </button>
          <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
