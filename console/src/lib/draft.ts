/** Drafts of plans in addresses: behind the `#`, which is sent to nobody. */
export interface Draft {
  /** Of the plan that it was made from. */
  version: number;
  text: string;
}

async function through(bytes: BlobPart, stream: CompressionStream | DecompressionStream): Promise<ArrayBuffer> {
  return new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();
}

export async function encodeDraft({ version, text }: Draft): Promise<string> {
  const bytes = new Uint8Array(await through(text, new CompressionStream("deflate-raw")));
  let found = "";
  for (const byte of bytes) found += String.fromCharCode(byte);
  return `${version}.${btoa(found).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

export interface Brought {
  draft: Draft | null;
  /** There should be a draft, but it was cut or changed on its way. */
  isDamaged: boolean;
}

/** The draft that a fragment brings, if any. */
export async function decodeDraft(hash: string): Promise<Brought> {
  if (!hash.startsWith("#draft=")) return { draft: null, isDamaged: false };
  const draft = await decoded(hash);
  return { draft, isDamaged: draft === null };
}

async function decoded(hash: string): Promise<Draft | null> {
  const match = /^#draft=(\d+)\.([\w-]+)$/.exec(hash);
  if (!match) return null;
  try {
    const found = atob(match[2]!.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(found, (each) => each.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate-raw")));
    return { version: Number(match[1]), text };
  } catch {
    return null;
  }
}

/** The address of the plan page with a draft in its editor. */
export async function draftHref(draft: Draft): Promise<string> {
  return `/console/plan#draft=${await encodeDraft(draft)}`;
}
