import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import type { Fault } from "../api/client";

const LOOK = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--panel)", height: "min(60vh, 40rem)", fontSize: "13px" },
  ".cm-content": { fontFamily: "ui-monospace, Menlo, Consolas, monospace", caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--dim)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--idle) !important" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-deletedChunk": { backgroundColor: "color-mix(in srgb, var(--bad) 14%, transparent)" },
  ".cm-changedLine": { backgroundColor: "color-mix(in srgb, var(--good) 14%, transparent) !important" },
});

const WORDS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.comment, tags.meta, tags.punctuation], color: "var(--dim)" },
  { tag: [tags.string, tags.number, tags.bool], color: "var(--good)" },
]);

const COMMON: Extension[] = [
  lineNumbers(),
  yaml(),
  syntaxHighlighting(WORDS),
  LOOK,
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ "aria-label": "Text of the plan" }),
];

/** Of a text that is only read: the keyboard can scroll it. */
const READ: Extension[] = [
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({ tabindex: "0" }),
];

/** Faults where they are: a line, or the first one where none is known. */
function marksOf(state: EditorState, faults: readonly Fault[], severity: "error" | "warning"): Diagnostic[] {
  return faults.map((fault) => {
    const line = state.doc.line(Math.min(Math.max(fault.line, 1), state.doc.lines));
    return { from: line.from, to: line.to, severity, message: `${fault.what}; ${fault.mend}` };
  });
}

/**
 * A view inside a box of its own. In a shadow root CodeMirror keeps its styles as objects; in the page it would write
 * them into it, which the page's policy does not allow.
 */
function view(box: HTMLDivElement, state: EditorState): EditorView {
  const root = box.shadowRoot ?? box.attachShadow({ mode: "open" });
  return new EditorView({ state, parent: root, root });
}

/** The text of a plan, with faults at their lines; read only where nobody listens. */
export function Editor({ text, onChange, faults, warnings }: {
  text: string;
  onChange?: (text: string) => void;
  faults: readonly Fault[];
  warnings: readonly Fault[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const kept = useRef<EditorView | null>(null);
  useEffect(() => {
    const editing: Extension[] = onChange
      ? [
          history(),
          drawSelection(),
          highlightActiveLine(),
          lintGutter(),
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onChange(update.state.doc.toString());
          }),
        ]
      : READ;
    const made = view(box.current!, EditorState.create({ doc: text, extensions: [...COMMON, ...editing] }));
    kept.current = made;
    if (onChange) made.focus();
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const made = kept.current;
    if (!made || !onChange) return;
    const marks = [...marksOf(made.state, faults, "error"), ...marksOf(made.state, warnings, "warning")];
    made.dispatch(setDiagnostics(made.state, marks));
  }, [faults, warnings]);
  return <div class="editor" ref={box} />;
}

/** What a later text says otherwise, in one column. */
export function Compare({ before, after }: { before: string; after: string }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const merge = unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } });
    const made = view(box.current!, EditorState.create({ doc: after, extensions: [...COMMON, ...READ, merge] }));
    return () => made.destroy();
  }, []);
  return <div class="editor" ref={box} />;
}
