/** The OpenID provider of the tests, as a process of its own. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { until } from "./service";

const ROOT = resolve(import.meta.dirname, "../..");
const PYTHON = join(ROOT, ".venv/bin/python");
const PASSWORD = "open sesame";

export class Provider {
  private readonly place = mkdtempSync(join(tmpdir(), "fairhold-provider-"));
  private process: ChildProcess | null = null;
  private port = 0;

  /** @param seconds that its tokens are good */
  constructor(private readonly seconds: number) {}

  get issuer(): string {
    return `http://127.0.0.1:${this.port}/o`;
  }

  async start(): Promise<void> {
    this.port = await freePort();
    const key = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", join(this.place, "key.pem")];
    execFileSync("openssl", key, { stdio: "ignore" });
    const env = { ...process.env, ID_TOKEN_SECONDS: String(this.seconds) };
    this.process = spawn(PYTHON, ["-m", "tests.provider.site", this.place, String(this.port)], { cwd: ROOT, env, stdio: "ignore" });
    await until(() => this.answers(), 60);
  }

  private async answers(): Promise<boolean> {
    const found = await fetch(`${this.issuer}/.well-known/openid-configuration`).catch(() => null);
    return found?.ok ?? false;
  }

  stop(): void {
    this.process?.kill("SIGKILL");
    this.process = null;
    rmSync(this.place, { recursive: true, force: true });
  }

  /** Somebody fills in the form of the provider, where it asks. */
  async signIn(page: Page, user: string): Promise<void> {
    await page.waitForSelector("input[name=username]");
    await page.fill("input[name=username]", user);
    await page.fill("input[name=password]", PASSWORD);
    await page.click("button");
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}
