/** Server-sent events out of a stream of text. */
export interface Told {
  id: string;
  kind: string;
  data: string;
}

/** Takes pieces of a stream, gives whole events; what is cut waits for its rest. */
export class Reader {
  private rest = "";

  take(piece: string): Told[] {
    const parts = (this.rest + piece).split("\n\n");
    this.rest = parts.pop() ?? "";
    return parts.map(read).filter((told): told is Told => told !== null);
  }
}

function read(block: string): Told | null {
  const told: Told = { id: "", kind: "", data: "" };
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    if (at <= 0) continue;
    const value = line.slice(at + 2);
    if (line.startsWith("id:")) told.id = value;
    else if (line.startsWith("event:")) told.kind = value;
    else if (line.startsWith("data:")) told.data += value;
  }
  return told.data ? told : null;
}
