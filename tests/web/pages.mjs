// Opens the pages that `espalier show` writes, and those of a live advisor and of a copy, in a
// real browser and uses their controls.
// usage: node tests/web/pages.mjs ESPALIER [FOLDER_FOR_SCREENSHOTS [TEST...]]
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "../../web/node_modules/playwright-core/index.mjs";

const [espalier, shots, ...only] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "espalier-pages-"));
const run = (...args) => execFileSync(espalier, args, { stdio: ["ignore", "pipe", "inherit"] });
const path = (name) => join(folder, name);

function makePages() {
  const few = "flat,binomial,grow,mtp";
  run("generate", "tiers", "--preset", "30", "--seed", "3", "-o", path("tiers.json"));
  run("show", path("tiers.json"), "-a", "mtp", "-a", "grow", "--compare", few, "-o", path("tiers.html"));
  run("generate", "sites", "--preset", "teragrid", "-o", path("grid.json"));
  run("show", path("grid.json"), "-a", "refine", "--compare", "none", "-o", path("grid.html"));
  run("show", path("grid.json"), "-a", "mtp", "--compare", "none", "-o", path("dense.html"));
  run("show", path("tiers.json"), "--op", "multicast", "--targets", "40%", "-a", "mcph", "-o", path("multicast.html"));
  run("show", path("tiers.json"), "--op", "allgather", "-a", "ring", "-o", path("allgather.html"));
  run("generate", "tiers", "--preset", "65", "--seed", "7", "-o", path("levels.json"));
  run("show", path("levels.json"), "-a", "grow", "--compare", "none", "-o", path("levels.html"));
  run("show", path("grid.json"), "--op", "allgather", "--compare", "none", "-o", path("auto.html"));
  run("generate", "random", "--nodes", "1000", "--density", "0.003", "-o", path("large.json"));
  run("show", path("large.json"), "-a", "grow", "--compare", "none", "-o", path("large.html"));
  run("reproduce", "--quick", "table3", "alltoall-fig4", "-o", path("report"));
  run("show", path("tiers.json"), "--no-plan", "--compare", "none", "-o", path("bare.html"));
}

// Opens a page and fails on whatever it complains about or asks the network for.
async function open(browser, name, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  const bad = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && bad.push(m.text()));
  page.on("pageerror", (e) => bad.push(e.message));
  page.on("request", (r) => /^(file|data):/.test(r.url()) || bad.push(`asked for ${r.url()}`));
  await page.goto(`file://${path(name)}`);
  return {
    page,
    async close(shot) {
      if (shots && shot) await page.screenshot({ path: join(shots, `${shot}.png`), fullPage: true });
      await page.close();
      assert.deepEqual(bad, [], name);
    },
  };
}

const shown = (page, selector) =>
  page.locator(selector).evaluateAll((all) => all.filter((e) => e.getBoundingClientRect().width > 0 && getComputedStyle(e).display !== "none").length);

async function usesControls(browser) {
  const { page, close } = await open(browser, "tiers.html");
  assert.equal(await page.locator(".node[data-n]").count(), 30);
  assert.match(await page.locator("#summary").textContent(), /30 hosts.*mtp/);
  assert.equal(await page.locator(".plan:visible").count(), 1);

  const trees = await page.locator("#trees input").count();
  assert.ok(trees > 1, "a mix of trees");
  await page.locator("#trees input").first().uncheck();
  assert.equal(await shown(page, '.plan[data-plan="0"] .tree[data-tree="0"] path'), 0);

  assert.ok((await shown(page, ".links line")) > 30);
  await page.locator("#show-links").uncheck();
  assert.equal(await shown(page, ".links line"), 0);
  assert.ok((await shown(page, ".cut line")) > 0);
  await page.locator("#show-cut").uncheck();
  assert.equal(await shown(page, ".cut line"), 0);
  await page.locator("#show-load").check();
  assert.match(await page.locator(".node[data-n] circle").first().getAttribute("style"), /color-mix/);

  await page.locator("#plan").selectOption("1");
  assert.match(await page.locator("#summary").textContent(), /grow/);
  assert.equal(await page.locator("#trees input").count(), 1);

  const before = await page.locator("#world").getAttribute("transform");
  await page.locator("#zoom-in").click();
  assert.notEqual(await page.locator("#world").getAttribute("transform"), before);
  await close();
}

async function plays(browser) {
  const { page, close } = await open(browser, "tiers.html");
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000); // a slow machine would play to the end between two keys
  await page.locator("#time").focus();
  for (let i = 0; i < 20; i++) await page.keyboard.press("PageUp");
  await page.locator("#time").fill("500");
  assert.ok((await page.locator("#moving circle").count()) > 0, "slices under way");
  assert.notEqual(await page.locator("#time-text").textContent(), "0 ns");
  await page.locator("#play").press("Enter");
  assert.equal(await page.locator("#play").getAttribute("aria-pressed"), "true");
  await page.clock.runFor(500);
  assert.ok(Number(await page.locator("#time").inputValue()) > 505, "time goes on");
  await page.locator("#play").press("Enter");
  assert.equal(await page.locator("#play").getAttribute("aria-pressed"), "false");
  await close();
}

async function compares(browser) {
  const { page, close } = await open(browser, "tiers.html");
  const first = () => page.locator("#ranking tbody tr").first().textContent();
  const times = [];
  for (const size of ["0", "6"]) {
    await page.locator("#size").fill(size);
    assert.equal(await page.locator("#ranking tbody tr").count(), 4);
    times.push(await first());
  }
  assert.notEqual(times[0], times[1]);
  assert.equal(await page.locator("#chart canvas").count(), 1);
  await close("tiers");
}

async function findsHosts(browser) {
  const { page, close } = await open(browser, "grid.html");
  assert.equal(await page.locator("#nodes tbody tr").count(), 64);
  await page.locator("#find").fill("psc");
  assert.equal(await page.locator("#nodes tbody tr").count(), 16);
  await page.locator("#nodes tbody button").first().press("Enter");
  assert.match(await page.locator("#details").textContent(), /^psc.* at psc: .* Receives from/);
  assert.equal(await page.locator(".node.marked").count(), 1);
  assert.equal(await page.locator("#compare").isVisible(), false);
  await close("grid");
}

async function fitsNarrow(browser) {
  for (const name of ["tiers.html", "grid.html", "large.html", "bare.html"]) {
    const { page, close } = await open(browser, name, {
      viewport: { width: 400, height: 800 }, colorScheme: "dark" });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 400, `${name} is ${wide} px wide on a screen of 400`);
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(paper, "rgb(20, 25, 31)");
    await close(`narrow-${name.replace(".html", "")}`);
  }
}

// A dense plan begins with its sites as one each, and cables between them.
async function closesSites(browser) {
  for (const [width, colorScheme] of [[1400, "light"], [420, "dark"]]) {
    const { page, close } = await open(browser, "dense.html", {
      viewport: { width, height: 900 }, colorScheme });
    assert.ok(!/=/.test(await page.locator("#title").textContent()), "no list of numbers in the title");
    assert.ok(await page.locator("#by-site").isChecked());
    assert.equal(await page.locator(".closed").count(), 4);
    assert.equal(await page.locator(".closed.root").count(), 1);
    assert.equal(await shown(page, ".node[data-n] circle"), 0);
    assert.equal(await shown(page, ".links line"), 0);
    assert.ok((await page.locator("#trees label").count()) <= 9, "many trees have one switch");
    const boxes = (of) => page.locator(of).evaluateAll((all) => all.map((e) => e.getBoundingClientRect().toJSON()));
    const discs = await boxes(".closed circle"), texts = await boxes(".closed text");
    assert.equal(texts.length, 8);
    texts.forEach((t, i) => assert.ok(t.width < discs[i >> 1].width, "names are within their circles"));
    discs.forEach((a, i) => discs.slice(i + 1).forEach((b) =>
      assert.ok(Math.hypot(a.x - b.x, a.y - b.y) > a.width, "circles stand apart")));
    const cables = await page.locator(".cable").count();
    assert.ok(cables > 3 && cables <= 12, `${cables} cables between 4 sites`);
    const widths = await page.locator(".cable").evaluateAll((all) => all.map((e) => Number(e.getAttribute("stroke-width"))));
    assert.ok(Math.max(...widths) > 1.5 * Math.min(...widths), "a cable is as wide as its load");
    await page.locator("#time").fill("300");
    assert.ok((await page.locator("#moving circle:not([r='0'])").count()) > 0, "slices travel along cables");
    if (width > 1000) {
      await page.locator(".closed").first().click();
      assert.equal(await shown(page, ".node[data-n] circle"), 16);
      assert.equal(await page.locator(".closed").count(), 3);
    }
    await page.locator("#by-site").uncheck();
    assert.equal(await shown(page, ".node[data-n] circle"), 64);
    assert.equal(await page.locator(".cable").count(), 0);
    await page.locator("#by-site").check();
    await close(`dense-${width}`);
  }
}

// Names of sites can be read on a small screen, whether sites are open or not.
async function namesSites(browser) {
  const { page, close } = await open(browser, "levels.html", { viewport: { width: 420, height: 900 } });
  const heights = (what) => page.locator(what).evaluateAll((all) => all
    .filter((e) => getComputedStyle(e).display !== "none")
    .map((e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a));
  for (const what of [".site-name", ".closed text"]) {
    const px = await heights(what);
    assert.ok(px.length >= 10 && Math.min(...px) >= 8.9, `${what}: ${px}`);
    await page.locator("#by-site").check();
  }
  await close("levels-420");
}

// What is drawn is explained, and nothing else: relays of a multicast, no root of an allgather.
async function explains(browser) {
  const multicast = await open(browser, "multicast.html");
  assert.ok(await multicast.page.locator("#legend-relay").isVisible());
  assert.ok((await multicast.page.locator(".node[data-n].relay").count()) > 0);
  await multicast.close("multicast");
  const allgather = await open(browser, "allgather.html");
  assert.equal(await allgather.page.locator("#legend-root").isVisible(), false);
  assert.equal(await allgather.page.locator(".node[data-n].root").count(), 0);
  assert.equal(await allgather.page.locator("#legend-relay").isVisible(), false);
  await allgather.close("allgather");
  const levels = await open(browser, "levels.html");
  assert.ok((await levels.page.locator(".node[data-n].side").count()) > 0);
  assert.ok(await levels.page.locator("#legend-side").isVisible());
  await levels.close();
  const auto = await open(browser, "auto.html");
  assert.match(await auto.page.locator("#summary").textContent(), /Allgather by auto \([a-z-]+\): /);
  assert.equal(await auto.page.locator("#legend-side").isVisible(), false);
  await auto.close();
}

async function showsManyHosts(browser) {
  const { page, close } = await open(browser, "large.html");
  assert.equal(await page.locator(".node[data-n]").count(), 1000);
  assert.equal(await page.locator(".plan path.edge").count(), 999);
  await close("large");
}

// ---- the live page ----

// An advisor with a page, and what stands for the ranks of a program.
async function startAdvisor(platform, name, ...more) {
  const advice = path(name);
  const child = spawn(espalier, ["advise", "-p", path(platform), "--folder", advice,
    "--http", "127.0.0.1:0", "--budget", "50ms", ...more], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  while (!said.includes("\n")) said += (await once(child.stderr, "data"))[0];
  const url = /http:\S+/.exec(said)?.[0];
  assert.ok(url, said);
  return { url, advice, platform: path(platform), async stop(signal = "SIGTERM") {
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  } };
}

async function feed(advisor, calls, ...algo) {
  const feeder = join(dirname(espalier), "tests", "feeder");
  const child = spawn(feeder, [advisor.platform, advisor.advice, String(calls), "0.2", ...algo], { stdio: "inherit" });
  assert.equal((await once(child, "exit"))[0], 0);
}

// Opens the page of an advisor; nothing may be asked of anybody else.
async function visit(browser, advisor, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  page.setDefaultTimeout(120000);
  const bad = [], origin = new URL(advisor.url).origin;
  let excused = false;
  const note = (text) => excused || bad.push(text);
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && note(m.text()));
  page.on("pageerror", (e) => bad.push(e.message));
  page.on("request", (r) => r.url().startsWith(`${origin}/`) || r.url().startsWith("data:") || bad.push(`asked for ${r.url()}`));
  await page.goto(advisor.url);
  await page.locator('#link[data-kind="live"]').waitFor();
  return {
    page,
    excuse() { excused = true; }, // the browser itself complains of lost connections
    async close(shot) {
      if (shots && shot) await page.screenshot({ path: join(shots, `${shot}.png`), fullPage: true });
      await page.close();
      assert.deepEqual(bad, [], shot);
    },
  };
}

const callsShown = (page) => page.locator("#calls tbody tr").count();

async function livesOn(browser) {
  run("generate", "sites", "--preset", "teragrid", "--wan-bandwidth", "30Mbps", "-o", path("live.json"));
  const advisor = await startAdvisor("live.json", "advice");
  const { page, close, excuse } = await visit(browser, advisor);
  assert.equal(await page.locator(".node").count(), 64);
  assert.equal(await callsShown(page), 0);
  assert.ok(await page.locator("#calls-empty").isVisible());
  await feed(advisor, 4);
  await page.waitForFunction(() => document.querySelectorAll("#calls tbody tr").length > 0);
  const before = await callsShown(page);
  // Reports that come too fast are lost, as they may be: it is fed until it has learned.
  const isHeard = async (what) => (await page.locator(what).count()) > 0;
  for (let i = 0; i < 24 && !((await isHeard("#rates tbody tr")) &&
       (await isHeard('#kind option[value="scatter"]'))); i++) {
    await feed(advisor, 20);
    await page.waitForTimeout(1500);
  }
  await page.waitForFunction((n) => document.querySelectorAll("#calls tbody tr").length > n, before);
  // The picture in README.md and docs/adapt.md.
  if (shots) await page.screenshot({ path: join(shots, "live-picture.png"), fullPage: true,
    clip: { x: 0, y: 0, width: 1200, height: 1460 } });
  const edges = await page.locator(".plan path.edge").count();
  assert.ok(edges > 0 && edges % 63 === 0, `${edges} edges are drawn: 63 a tree`);
  // A better plan may just have been published.
  assert.match(await page.locator("#plan-text").textContent(), /^(In force: |Published, not in use yet: )/);
  assert.ok((await page.locator("#plans tr[data-kind=now]").count()) <= 1);
  assert.ok((await page.locator("#rates tbody tr").count()) > 0, "rates are heard of");
  assert.ok((await page.locator("#rates-drawn path").count()) > 0, "and drawn");
  assert.match(await page.locator("#rates tbody tr").first().textContent(), /\d+ (call|probe)s?/, "with what moved them");
  assert.match(await page.locator("#plans tbody tr").first().textContent(), /first plan|instead of/, "plans say why they came");
  assert.match(await page.locator("#decisions").textContent(), /allreduce.*native/);
  assert.equal(await page.locator("#chart canvas").count(), 1);
  assert.match(await page.locator("#tile-ours-note").textContent(), /by plans, .* native/);

  await page.locator("#show-plan").uncheck();
  assert.equal(await shown(page, ".plan path"), 0);
  await page.locator("#show-plan").check();
  await page.locator("#show-rates").uncheck();
  assert.equal(await shown(page, "#rates-drawn path"), 0);
  await page.locator("#show-rates").check();
  await page.locator("#plans tbody button").last().press("Enter");
  assert.notEqual(await page.locator("#plan").inputValue(), "");
  await page.locator("#plan").selectOption("");
  await page.locator("#find").fill("psc");
  await page.locator("#nodes tbody button").first().press("Enter");
  assert.match(await page.locator("#details").textContent(), /Receives from/);
  await page.locator("#find").fill("");
  await page.locator("#kind").selectOption("scatter");
  await page.locator("#kind").selectOption("");
  await page.locator("#pause").press("Enter");
  assert.match(await page.locator("#link").textContent(), /paused/);
  await page.locator("#pause").press("Enter");
  await page.locator('#link[data-kind="live"]').waitFor();

  // The advisor dies and is started anew, as espalier run does: the page goes on.
  excuse();
  await advisor.stop("SIGKILL");
  await page.locator('#link[data-kind="lost"]').waitFor();
  const again = await startAdvisor("live.json", "advice");
  assert.equal(again.url, advisor.url);
  await page.locator('#link[data-kind="live"]').waitFor({ timeout: 60000 });
  await feed(again, 12);
  // The list has room for a hundred: of the new calls the first is marked.
  await page.locator("#calls tr[data-kind=again]").first().waitFor({ timeout: 60000 });
  assert.equal(await page.locator("#calls tr[data-kind=again]").count(), 1);
  await close("live");
  for (const [width, colorScheme] of [[1200, "dark"], [400, "light"], [400, "dark"]]) {
    const narrow = await visit(browser, again, { viewport: { width, height: 800 }, colorScheme });
    await narrow.page.waitForFunction(() => document.querySelectorAll("#calls tbody tr").length > 0);
    const wide = await narrow.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `the live page is ${wide} px wide on a screen of ${width}`);
    await narrow.close(`live-${width}-${colorScheme}`);
  }
  await again.stop();
}

async function livesWithManyHosts(browser) {
  run("generate", "random", "--nodes", "1000", "--density", "0.003", "-o", path("crowd.json"));
  const advisor = await startAdvisor("crowd.json", "advice-crowd", "--algo", "grow");
  await feed(advisor, 4, "grow");
  const { page, close } = await visit(browser, advisor);
  assert.equal(await page.locator(".node").count(), 1000);
  await page.waitForFunction(() => document.querySelectorAll(".plan path.edge").length === 999);
  await close("live-large");
  await advisor.stop();
}

// Without the token there is nothing to see.
async function keepsOthersOut() {
  run("generate", "sites", "--sites", "2", "--clusters", "1", "--hosts", "2", "-o", path("small.json"));
  const advisor = await startAdvisor("small.json", "advice-closed");
  const { origin } = new URL(advisor.url);
  for (const [where, code] of [["/", 401], ["/api/state", 401], ["/?token=0123456789abcdef", 403]])
    assert.equal((await fetch(origin + where)).status, code);
  assert.equal((await fetch(advisor.url, { method: "POST" })).status, 405);
  await advisor.stop();
}

// A copy of a stream to agents on this machine, of which one has a small disk.
async function startCopy(what, to, rsh = fileURLToPath(new URL("../copy/rsh", import.meta.url))) {
  run("generate", "complete", "--nodes", "6", "--seed", "1", "-o", path("copy.json"));
  writeFileSync(path("targets"), ["p1", "p2", "p4", "p5"].map((h) => `${h} 127.0.0.1\n`).join(""));
  writeFileSync(path("relays"), "p3 127.0.0.1\n");
  const child = spawn(espalier, ["cp", what, "--to", `${path("targets")}:${path("out")}/{host}${to}`,
    "--relay", path("relays"), "-p", path("copy.json"), "--root", "p0", "--rsh", rsh,
    "--agent", espalier, "--http", "0"],
    { stdio: ["pipe", "ignore", "pipe"], env: { ...process.env, COPY_FULL: "p5" } });
  let said = "";
  while (!said.includes("\n")) said += (await once(child.stderr, "data"))[0];
  child.stderr.resume();
  return { url: /http:\S+/.exec(said)?.[0], child };
}

async function showsCopies(browser) {
  const copy = await startCopy("-", "/stream");
  const { page, close, excuse } = await visit(browser, copy);
  copy.child.stdin.write(Buffer.alloc(40e6, 1)); // of which 32 MiB arrive
  const row = (name) => page.locator("#hosts tbody tr", { hasText: name });
  for (const name of ["p1", "p2", "p4"]) await row(name).filter({ hasText: "33.55 MB" }).waitFor();
  await row("p5").filter({ hasText: "failed" }).waitFor();
  assert.match(await row("p5").textContent(), /cannot write/);
  assert.match(await row("p3").textContent(), /passes on/);
  assert.equal(await page.locator(".node").count(), 6);
  assert.equal(await page.locator("#tile-out").textContent(), "1");
  assert.match(await page.locator("#tile-bound-note").textContent(), /a stream has no end/);
  assert.match(await page.locator("#summary").textContent(), /to 4 hosts: more of the stream is awaited/);
  await page.locator("#find").fill("failed");
  assert.equal(await page.locator("#hosts tbody tr").count(), 1);
  await page.locator("#hosts tbody button").press("Enter");
  assert.match(await page.locator("#details").textContent(), /^p5: failed.*cannot write/);
  await page.locator("#find").fill("");
  for (const [width, colorScheme] of [[1200, "dark"], [400, "light"], [400, "dark"]]) {
    const narrow = await visit(browser, copy, { viewport: { width, height: 800 }, colorScheme });
    await narrow.page.locator("#hosts tbody tr").first().waitFor();
    const wide = await narrow.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `the page of a copy is ${wide} px wide on a screen of ${width}`);
    await narrow.close(`copy-${width}-${colorScheme}`);
  }
  excuse();
  copy.child.stdin.end();
  await once(copy.child, "exit");
  await page.locator('#link[data-kind="lost"]').waitFor();
  assert.match(await page.locator("#link").textContent(), /the copy has ended$/);
  assert.equal(await page.locator("#hosts tbody tr", { hasText: "has it" }).count(), 3);
  await close("copy");
}

// A file, of which the bound is known; agents wait until somebody looks.
async function showsBounds(browser) {
  writeFileSync(path("file"), Buffer.alloc(20e6, 1));
  writeFileSync(path("rsh"), `#!/bin/sh
while [ ! -e ${path("go")} ]; do sleep 0.05; done
exec ${fileURLToPath(new URL("../copy/rsh", import.meta.url))} "$@"
`, { mode: 0o755 });
  const copy = await startCopy(path("file"), "", path("rsh"));
  const { page, close, excuse } = await visit(browser, copy);
  await page.locator("#summary", { hasText: "agents are started" }).waitFor();
  assert.match(await page.locator("#tile-bound-note").textContent(), /^at best [0-9.]+ m?s$/);
  excuse();
  writeFileSync(path("go"), "");
  await once(copy.child, "exit");
  await page.locator('#link[data-kind="lost"]').waitFor();
  assert.equal(await page.locator("#hosts tbody tr", { hasText: "has it" }).count(), 3);
  assert.match(await page.locator("#tile-plan-note").textContent(), /^planned [0-9.]+ m?s$/);
  assert.match(await page.locator("#tile-done").textContent(), /^100(.0)?%$/);
  await close("copy-of-a-file");
}

async function accounts(browser) {
  for (const [width, colorScheme] of [[1000, "light"], [400, "dark"]]) {
    const { page, close } = await open(browser, "report/index.html", {
      viewport: { width, height: 800 }, colorScheme });
    assert.equal(await page.locator("#table3 svg.chart").count(), 1);
    assert.equal(await page.locator("td.agrees, td.differs").count(), 12 + 5);
    for (const figure of ["alltoall-fig4", "alltoall-fig5", "alltoall-64", "alltoall-mixes"])
      assert.equal(await page.locator(`#${figure} svg.chart`).count(), 1, figure);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `the report is ${wide} px wide on a screen of ${width}`);
    await page.locator("#table3 summary").press("Enter");
    assert.ok(await page.locator("#table3 table").isVisible());
    await close(`report-${width}`);
  }
}

const tests = [usesControls, plays, compares, findsHosts, fitsNarrow, closesSites, namesSites, explains, showsManyHosts, livesOn,
  livesWithManyHosts, showsCopies, showsBounds, keepsOthersOut, accounts].filter((t) => !only.length || only.includes(t.name));
const needPages = tests.some((t) => ![livesOn, livesWithManyHosts, showsCopies, showsBounds, keepsOthersOut].includes(t));
if (needPages) makePages();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const test of tests) {
    await test(browser);
    console.log(`ok ${test.name}`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
