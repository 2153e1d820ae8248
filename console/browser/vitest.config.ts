import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["browser/*.browser.ts"],
    globalSetup: ["browser/needed.ts"],
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
