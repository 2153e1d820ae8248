import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules", "src/api/schema.ts"] },
  ...tseslint.configs.recommended,
  {
    rules: {
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
      eqeqeq: "error",
      "no-console": "error",
      "@typescript-eslint/consistent-type-imports": "error",
    },
  },
  { files: ["browser/*"], rules: { "max-lines-per-function": "off" } },
);
