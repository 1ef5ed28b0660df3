// Bundles each page into one file: usage: node build.mjs FOLDER
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = process.argv[2] ?? here(".");

// The page's frame, and the script that moves it.
async function bundle(name, entry) {
  const bundled = await build({
    entryPoints: [here(`src/${entry}`)],
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
  const frame = await readFile(here(`src/${name}.html`), "utf8");
  await writeFile(
    join(folder, `${name}.html`),
    frame
      .replace("/*style*/", () => text(".css"))
      .replace("/*script*/", () => script),
  );
}

await bundle("page", "main.ts");
await bundle("live", "live.ts");
await bundle("copy", "copy.ts");
