// The live page: asks the advisor what it knows and does, and shows it.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import "./live.css";
import { binary, bytes, element, percent, plain, seconds, type Platform } from "./data";
import { listHosts } from "./hosts";
import { CallChart } from "./live_chart";
import { parseDrawing, Rates } from "./live_network";
import { Source } from "./live_source";
import { forecastOf, type PublishedPlan, type State } from "./live_state";
import { Tables } from "./live_tables";
import { Network, type Links } from "./network";

let platform: Platform = { name: "", model: "", links: 0, hosts: 0, sites: [], nodes: [] };
let links: Links = { from: new Map(), to: new Map() };
let shownNetwork = ""; // instance and number of the drawing
let shownPlan = 0;
let state: State | undefined;

const network = new Network(platform, (node) => showNode(node));
const rates = new Rates(network);
const chart = new CallChart();
const choice = element<HTMLSelectElement>("plan");
const tables = new Tables((id) => {
  choice.value = String(id);
  void showPlan();
  element("network-title").scrollIntoView({ behavior: "smooth", block: "start" });
});
const say = (id: string, text: string) => {
  if (element(id).textContent !== text) element(id).textContent = text;
};

function showNode(node: number) {
  network.mark(node);
  element("details").textContent = network.describe(node, links);
}

const showHosts = () => listHosts(platform, links, (n) => String(platform.nodes[n][3]), showNode);

// ---- the network and the plan ----

async function showNetwork(now: State) {
  const key = `${now.instance}/${now.network}`;
  if (key === shownNetwork) return;
  const fresh = await source.get<{ platform: Platform; svg: string }>("/api/network");
  platform = fresh.platform;
  network.replace(platform, parseDrawing(fresh.svg) as SVGSVGElement);
  rates.learn(platform);
  shownNetwork = key;
  shownPlan = 0;
  links = { from: new Map(), to: new Map() };
  document.title = `${platform.name || "network"}: advisor`;
  showHosts();
}

const nameOf = (node: number) => platform.nodes[node]?.[0] ?? "?";
const label = (p: PublishedPlan) => `${plain(p.algo)}, up to ${binary(p.up_to_bytes)} from ${nameOf(p.root)}`;

function listPlans(now: State) {
  const wanted = [...now.plans].sort((a, b) => a.root - b.root || a.up_to_bytes - b.up_to_bytes);
  const have = [...choice.options].slice(1).map((o) => o.value).join();
  if (have === wanted.map((p) => String(p.id)).join()) return;
  const chosen = choice.value;
  choice.replaceChildren(choice.options[0], ...wanted.map((p) => new Option(label(p), String(p.id))));
  choice.value = wanted.some((p) => String(p.id) === chosen) ? chosen : "";
}

// The one chosen; else the one in force; else the one for the call that is predicted.
function wantedPlan(now: State): PublishedPlan | undefined {
  const by = (id: number | null) => now.plans.find((p) => p.id === id);
  const size = now.outlook.size_bytes ?? 1e6;
  const near = [...now.plans].sort((a, b) =>
    Math.abs(Math.log(a.up_to_bytes / size)) - Math.abs(Math.log(b.up_to_bytes / size)));
  return by(Number(choice.value)) ?? by(now.in_force) ?? near[0];
}

async function showPlan() {
  const plan = state && wantedPlan(state);
  if (!plan) {
    say("plan-text", "No plan has been published yet.");
    return;
  }
  const what = plan.id === state?.in_force ? "In force" : choice.value ? "Published" : "Published, not in use yet";
  const slices = plan.slice_bytes ? ` in slices of ${bytes(plan.slice_bytes)}` : "";
  const expected = plan.makespan_s ? `; ${bytes(plan.size_bytes)} are expected to take ${seconds(plan.makespan_s)}` : "";
  say("plan-text", `${what}: ${label(plan)}${slices}${expected}.`);
  if (plan.id === shownPlan) return;
  const drawn = await source.get<{ svg: string }>(`/api/plan?id=${plan.id}`);
  network.svg.querySelectorAll(".plan").forEach((g) => g.remove());
  network.svg.querySelector(".nodes")?.before(parseDrawing(drawn.svg));
  network.show(plan.id, { trees: [], load: [] });
  network.svg.querySelectorAll(".node.root").forEach((n) => n.classList.remove("root"));
  network.svg.querySelector(`.node[data-n="${plan.root}"]`)?.classList.add("root");
  links = network.links(plan.id);
  shownPlan = plan.id;
  showHosts();
}

// ---- at a glance ----

function summary(now: State): string {
  const { hosts, sites, model } = platform;
  const name = platform.name.length > 60 ? `${platform.name.slice(0, 57)}...` : platform.name;
  const where = `${name ? `${name}: ` : ""}${hosts} hosts${sites.length ? ` at ${sites.length} sites` : ""}, ${model} model`;
  const n = now.last + now.skipped, calls = n === 1 ? "1 call" : `${n} calls`;
  const busy = now.outlook.busy ? "" : " No program is calling: plans for all sizes take turns.";
  const { sent, bytes: size, changed } = now.probes ?? { sent: 0, bytes: 0, changed: 0 };
  const probes = sent
    ? ` Probes while nobody called: ${sent}, ${bytes(size)} in all, of which ${changed} changed what is believed.`
    : "";
  return `${where}; running for ${seconds(Math.round(now.up_s))}, ${calls}.${busy}${probes}`;
}

function showTiles(now: State) {
  const last = source.calls[source.calls.length - 1];
  const forecast = last && forecastOf(last);
  say("tile-took", last ? seconds(last.took_s) : "-");
  say("tile-took-note", last ? `${last.op} of ${bytes(last.bytes)}${forecast ? `, forecast ${seconds(forecast)}` : ""}` : "none yet");
  const { size_bytes, gap_s, last_ago_s } = now.outlook;
  say("tile-next", size_bytes ? bytes(size_bytes) : "-");
  const left = gap_s !== null && last_ago_s !== null ? gap_s - last_ago_s : null;
  say("tile-next-note", gap_s === null ? "not known yet"
    : `${left !== null && left > 0 ? `in ${seconds(Number(left.toPrecision(2)))}` : "due"}, calls are ${seconds(Number(gap_s.toPrecision(2)))} apart`);
  const offs = source.calls.slice(-50).flatMap((c) => {
    const f = forecastOf(c);
    return f && c.took_s > 0 ? [Math.abs(c.took_s / f - 1)] : [];
  }).sort((a, b) => a - b);
  say("tile-error", offs.length ? percent(offs[Math.floor(offs.length / 2)]) : "-");
  say("tile-error-note", offs.length ? `the median of the last ${offs.length}` : "none to compare yet");
  say("tile-slow", String(now.outlook.slow));
  say("tile-slow-note", `of ${now.heard} with reports; slow: below 80%`);
  const ours = now.decisions.reduce((sum, d) => sum + d.ours, 0);
  const all = now.decisions.reduce((sum, d) => sum + d.native, ours);
  say("tile-ours", all ? percent(ours / all) : "-");
  say("tile-ours-note", all ? `${ours} by plans, ${all - ours} native` : "no decisions yet");
}

async function show(now: State) {
  state = now;
  await showNetwork(now);
  listPlans(now);
  await showPlan();
  rates.draw(now.rates, platform);
  say("summary", summary(now));
  showTiles(now);
  tables.show(now, source.calls, platform);
  chart.show(source.calls);
}

// ---- the connection ----

function showLink(kind: string, text: string) {
  element("link").dataset.kind = kind;
  document.body.classList.toggle("lost", kind === "lost");
  say("link-text", text);
}

const source = new Source(show, showLink);
choice.addEventListener("change", () => void showPlan().catch(() => undefined));
element("find").addEventListener("input", showHosts);
element("pause").addEventListener("click", () => {
  const on = element("pause").getAttribute("aria-pressed") !== "true";
  element("pause").setAttribute("aria-pressed", String(on));
  say("pause", on ? "Go on" : "Pause");
  source.pause(on);
});
