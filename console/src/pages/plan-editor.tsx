import { autocompletion, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import { get, type Fault } from "../api/client";
import { keysAt, placeOf, valuesAt } from "../lib/plan-words";

const LOOK = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--panel)", height: "min(60vh, 40rem)", fontSize: "13px" },
  ".cm-content": { fontFamily: "ui-monospace, Menlo, Consolas, monospace", caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--dim)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--idle) !important" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-text)" },
  ".cm-completionInfo": { padding: "0.3rem 0.5rem", maxWidth: "22rem" },
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

let schema: Promise<object> | null = null;

/** Keys and values that may stand there, by the schema of plans; below `consumers` of an entry also the plan's paths. */
async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[\w/.-]*/);
  if (!word || (word.from === word.to && !context.explicit)) return null;
  schema ??= get("/v1/plan/schema") as Promise<object>;
  const known = await schema;
  const before = context.state.sliceDoc(0, word.from);
  const place = placeOf(before + word.text);
  const key = /([\w"]+):\s*$/.exec(before.slice(before.lastIndexOf("\n") + 1))?.[1];
  if (key) {
    const options = valuesAt(known, [...place, key]).map((label) => ({ label, type: "constant" }));
    return options.length ? { from: word.from, options } : null;
  }
  const paths = place.at(-1) === "consumers" ? [...new Set(context.state.doc.toString().match(/\/[\w/.-]+/g) ?? [])] : [];
  const options = [
    ...paths.map((path) => ({ label: path, apply: `${path}: `, type: "variable" })),
    ...keysAt(known, place).map(({ name, about }) => ({ label: name, apply: `${name}: `, info: about, type: "property" })),
  ];
  return options.length ? { from: word.from, options, validFor: /^[\w/.-]*$/ } : null;
}

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
export function Editor({ text, original, onChange, faults, warnings }: {
  text: string;
  /** What differs from this is marked. */
  original?: string;
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
          autocompletion({ override: [complete] }),
          ...(original === undefined ? [] : [unifiedMergeView({ original, mergeControls: false })]),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
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
