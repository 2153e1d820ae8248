/** What may be written at a place of a plan, by its JSON schema; and which place the end of a text is at. */
export type Step = string | number;

export interface Word {
  name: string;
  about: string;
}

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  patternProperties?: Record<string, Schema>;
  items?: Schema | boolean;
  enum?: unknown[];
  const?: unknown;
  description?: string;
  [words: string]: unknown;
}

const PARTS = ["allOf", "anyOf", "oneOf"];

/** A schema and all that it is made of: what it refers to, and its alternatives. */
function* whole(root: Schema, node: Schema | boolean | undefined, depth = 0): Generator<Schema> {
  if (!node || node === true || depth > 12) return;
  if (node.$ref) yield* whole(root, root.$defs?.[node.$ref.split("/").at(-1)!], depth + 1);
  yield node;
  for (const part of PARTS) for (const each of (node[part] as Schema[] | undefined) ?? []) yield* whole(root, each, depth + 1);
  for (const part of ["then", "else"]) yield* whole(root, node[part] as Schema | undefined, depth + 1);
}

function below(root: Schema, nodes: readonly Schema[], step: Step): Schema[] {
  const found: Schema[] = [];
  for (const node of nodes) {
    if (typeof step === "number") found.push(...whole(root, node.items));
    else if (node.properties?.[step]) found.push(...whole(root, node.properties[step]));
    else {
      found.push(...whole(root, node.additionalProperties));
      for (const each of Object.values(node.patternProperties ?? {})) found.push(...whole(root, each));
    }
  }
  return found;
}

function at(schema: object, place: readonly Step[]): Schema[] {
  const root = schema as Schema;
  return place.reduce((nodes, step) => below(root, nodes, step), [...whole(root, root)]);
}

/** Keys that may stand at a place. */
export function keysAt(schema: object, place: readonly Step[]): Word[] {
  const found = new Map<string, string>();
  for (const node of at(schema, place)) {
    for (const [name, of] of Object.entries(node.properties ?? {})) {
      const about = [...whole(schema as Schema, of)].map((each) => each.description).find(Boolean);
      if (!found.get(name)) found.set(name, about ?? "");
    }
  }
  return [...found].map(([name, about]) => ({ name, about }));
}

/** Values that may stand at a place, where only some may. */
export function valuesAt(schema: object, place: readonly Step[]): string[] {
  const found = at(schema, place).flatMap((node) => node.enum ?? (node.const === undefined ? [] : [node.const]));
  return [...new Set(found.map(String))];
}

const KEY = /^(\s*)((?:- )*)("[^"]*"|[^\s:#{}[\],][^:#]*?):(?:\s|$)/;

/** Keys and positions above the end of a text, by indentation, and by braces in its last line. */
export function placeOf(text: string): Step[] {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  const braces = last.lastIndexOf("{") > last.lastIndexOf("}");
  const head = braces ? last.slice(0, last.lastIndexOf("{")) : "";
  const place: Step[] = [];
  let indent = braces ? Infinity : last.length - last.trimStart().replace(/^(- )+/, "").length;
  for (const line of braces ? [head, ...lines.reverse()] : lines.reverse()) {
    const match = KEY.exec(line);
    const dashes = match?.[2]!.length ?? 0;
    const column = match ? match[1]!.length + dashes : 0;
    if (!match || column > indent) continue;
    if (column < indent) {
      place.unshift(match[3]!.replaceAll('"', ""));
      indent = column;
    }
    if (dashes) {
      place.unshift(0);
      indent = match[1]!.length + 1;
    }
  }
  return place;
}
