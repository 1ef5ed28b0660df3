// Opens the pages that `espalier show` writes in a real browser and uses their controls.
// usage: node tests/web/pages.mjs ESPALIER [FOLDER_FOR_SCREENSHOTS]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "../../web/node_modules/playwright-core/index.mjs";

const [espalier, shots] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "espalier-pages-"));
const run = (...args) => execFileSync(espalier, args, { stdio: ["ignore", "pipe", "inherit"] });
const path = (name) => join(folder, name);

function makePages() {
  const few = "flat,binomial,grow,mtp";
  run("generate", "tiers", "--preset", "30", "--seed", "3", "-o", path("tiers.json"));
  run("show", path("tiers.json"), "-a", "mtp", "-a", "grow", "--compare", few, "-o", path("tiers.html"));
  run("generate", "sites", "--preset", "teragrid", "-o", path("grid.json"));
  run("show", path("grid.json"), "-a", "refine", "--compare", "none", "-o", path("grid.html"));
  run("generate", "random", "--nodes", "1000", "--density", "0.003", "-o", path("large.json"));
  run("show", path("large.json"), "-a", "grow", "--compare", "none", "-o", path("large.html"));
  run("reproduce", "--quick", "table3", "-o", path("report"));
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
  assert.equal(await page.locator(".node").count(), 30);
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
  assert.match(await page.locator(".node circle").first().getAttribute("style"), /color-mix/);

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
  await page.locator("#time").focus();
  for (let i = 0; i < 20; i++) await page.keyboard.press("PageUp");
  await page.locator("#time").fill("500");
  assert.ok((await page.locator("#moving circle").count()) > 0, "slices under way");
  assert.notEqual(await page.locator("#time-text").textContent(), "0 ns");
  await page.locator("#play").press("Enter");
  assert.equal(await page.locator("#play").getAttribute("aria-pressed"), "true");
  await page.waitForFunction(() => Number(document.getElementById("time").value) > 505);
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

async function showsManyHosts(browser) {
  const { page, close } = await open(browser, "large.html");
  assert.equal(await page.locator(".node").count(), 1000);
  assert.equal(await page.locator(".plan path.edge").count(), 999);
  await close("large");
}

async function accounts(browser) {
  for (const [width, colorScheme] of [[1000, "light"], [400, "dark"]]) {
    const { page, close } = await open(browser, "report/index.html", {
      viewport: { width, height: 800 }, colorScheme });
    assert.equal(await page.locator("#table3 svg.chart").count(), 1);
    assert.equal(await page.locator("td.agrees, td.differs").count(), 12);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `the report is ${wide} px wide on a screen of ${width}`);
    await page.locator("#table3 summary").press("Enter");
    assert.ok(await page.locator("#table3 table").isVisible());
    await close(`report-${width}`);
  }
}

makePages();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const test of [usesControls, plays, compares, findsHosts, fitsNarrow, showsManyHosts, accounts]) {
    await test(browser);
    console.log(`ok ${test.name}`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
