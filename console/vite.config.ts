import { defineConfig } from "vitest/config";

const api = process.env.FAIRHOLD_SERVICE ?? "http://127.0.0.1:7878";

export default defineConfig({
  base: "/console/",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    outDir: "../src/fairhold/console",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
  },
  server: { proxy: { "/v1": api, "/console/session": api } },
  test: { include: ["tests/**/*.test.ts"] },
});
