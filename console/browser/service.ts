/** A real service with real work, for the tests of the console. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const FAIRHOLD = join(ROOT, ".venv/bin/fairhold");
/** Another loopback address: a connection that can be cut while the service goes on. */
export const CUTTABLE = "127.0.0.2";

export const PLAN = `fairhold: 1
cluster: bank
resource_groups:
  compute: {slots: 8}
consumers:
  Trading: {rank: 0, consumers: {Equities: {}, Rates: {}}}
  Risk: {rank: 1}
  Research: {rank: 2, reclaim_grace: 4s, consumers: {Models: {}, Backtests: {}}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /Trading: {owned: 4, reserved: 1}
      /Trading/Equities: {owned: 2, reserved: 1}
      /Trading/Rates: {owned: 2}
      /Risk: {owned: 2}
      /Research: {owned: 2}
      /Research/Models: {owned: 1}
      /Research/Backtests: {owned: 1, limit: 6}
`;

export class Service {
  private readonly place = mkdtempSync(join(tmpdir(), "fairhold-console-"));
  private process: ChildProcess | null = null;
  private port = 0;

  /** Have a module of Python write plan and state directory. */
  write(module: string, ...words: string[]): void {
    execFileSync(join(ROOT, ".venv/bin/python"), ["-m", module, this.place, ...words], { cwd: ROOT, stdio: "inherit" });
  }

  get pid(): number {
    return this.process?.pid ?? 0;
  }

  async start(): Promise<void> {
    const plan = join(this.place, "plan.yaml");
    if (!existsSync(plan)) writeFileSync(plan, PLAN);
    const words = ["serve", "plan.yaml", "--port", String(this.port), "--name", CUTTABLE, "--log", "error"];
    this.process = spawn(FAIRHOLD, words, { env: this.environment, cwd: this.place, stdio: "ignore" });
    await until(() => this.isUp());
    this.port = Number(new URL(this.json<{ service: { address: string } }>("status").service.address).port);
  }

  private get environment(): NodeJS.ProcessEnv {
    return { ...process.env, FAIRHOLD_STATE: join(this.place, "state"), FAIRHOLD_SERVICE: "", FAIRHOLD_TOKEN: "" };
  }

  private isUp(): boolean {
    try {
      this.run("status");
      return true;
    } catch {
      return false;
    }
  }

  /** What a command prints. */
  run(...words: string[]): string {
    return execFileSync(FAIRHOLD, words, { env: this.environment, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  }

  /** Put a plan in force. */
  apply(text: string): void {
    const file = join(this.place, "next.yaml");
    writeFileSync(file, text);
    this.run("plan", "apply", file, "--yes");
  }

  json<T>(...words: string[]): T {
    return JSON.parse(this.run(...words, "--json")) as T;
  }

  /** The number of a new job. */
  submit(consumer: string, count: number, name: string, ...command: string[]): string {
    return this.run("submit", consumer, "-n", String(count), "--name", name, "--", ...command);
  }

  /** Where the console is, with a code that signs in. */
  console(): string {
    return this.run("console", "--print");
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get token(): string {
    return readFileSync(this.json<{ service: { directory: string } }>("status").service.directory + "/token", "utf8").trim();
  }

  /** End it with all that runs; with `isKept` another one can be started in its place. */
  async stop(isKept = false): Promise<void> {
    const ended = new Promise((done) => this.process?.once("exit", done));
    this.run("stop", isKept ? "--no-wait" : "--kill");
    await ended;
    if (!isKept) rmSync(this.place, { recursive: true, force: true });
  }

  /** A way to the service that can be cut. */
  async way(): Promise<Way> {
    const way = new Way(this.port);
    await way.open();
    return way;
  }
}

export class Way {
  private server: Server | null = null;
  private readonly sockets = new Set<Socket>();

  constructor(private readonly port: number) {}

  get url(): string {
    return `http://${CUTTABLE}:${this.port}`;
  }

  open(): Promise<void> {
    this.server = createServer((socket) => {
      const other = connect(this.port, "127.0.0.1");
      for (const each of [socket, other]) {
        this.sockets.add(each);
        each.on("error", () => undefined).on("close", () => this.sockets.delete(each));
      }
      socket.pipe(other).pipe(socket);
    });
    return new Promise((done) => this.server?.listen(this.port, CUTTABLE, done));
  }

  cut(): void {
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

/** Wait until something holds. */
export async function until(holds: () => boolean | Promise<boolean>, seconds = 120): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error("it did not come about");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
