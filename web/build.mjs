// Bundle the page into the Python package, or into the folder that is named. The same sources give
// the same bytes. With --watch it is bundled again after every change.
import { build, context } from "esbuild";
import { cp, mkdir, rm } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const folder = process.argv.slice(2).find((word) => !word.startsWith("--"));
const place = folder ? `${pathToFileURL(folder)}/` : "../src/tengen/web/static/";
const out = new URL(place, import.meta.url).pathname;
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const options = {
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: { app: "src/app.tsx", alone: "src/alone.tsx", worker: "src/engine/worker.ts" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  // Shudan's pictures are not used: wood and stones are drawn by our style sheet.
  loader: { ".svg": "empty", ".png": "empty" },
  legalComments: "none",
  charset: "utf8",
  logLevel: "info",
};
// Both pages have one style sheet.
const oneSheet = {
  name: "one-sheet",
  setup: (made) => made.onEnd(() => rm(`${out}alone.css`, { force: true })),
};
options.plugins = [oneSheet];
await cp(new URL("public/", import.meta.url).pathname, out, { recursive: true });
if (process.argv.includes("--watch")) await (await context(options)).watch();
else await build(options);
