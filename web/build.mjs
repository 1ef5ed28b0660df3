// Bundles the page into one file: usage: node build.mjs OUT.html
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const out = process.argv[2] ?? here("page.html");

const bundled = await build({
  entryPoints: [here("src/main.ts")],
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: "es2020",
  legalComments: "none",
});
const text = (ending) => bundled.outputFiles.find((f) => f.path.endsWith(ending)).text;
// "</script" would end the element early, wherever it stood in the bundle.
const script = text(".js").replaceAll("</script", "<\\/script");
const frame = await readFile(here("src/page.html"), "utf8");
await writeFile(
  out,
  frame
    .replace("/*style*/", () => text(".css"))
    .replace("/*script*/", () => script),
);
