import "uplot/dist/uPlot.min.css";
import "./style.css";
import { showComparison } from "./compare";
import { element, maker, percent, rate, readData, seconds, type Data, type Plan } from "./data";
import { listHosts } from "./hosts";
import { Network, type Links } from "./network";
import { Sites } from "./sites";
import { bar, cell, fill } from "./table";
import { TimelineView } from "./timeline";

const MANY_LINKS = 1000;
const data: Data = readData();
let links: Links = { from: new Map(), to: new Map() };
let current = 0;

const network = new Network(data.platform, (node) => showNode(node));
const sites = new Sites(network, data.platform, data.root);
const timeline = new TimelineView(data, network);

function summary(plan: Plan | undefined): string {
  const { hosts, links: n, model, sites, nodes } = data.platform;
  const switches = nodes.length - hosts;
  const parts = [`${hosts} hosts`];
  if (switches) parts.push(`${switches} switches`);
  if (sites.length) parts.push(`${sites.length} sites`);
  parts.push(`${n} links`, `${model} model`);
  // Generated networks are named after all their numbers.
  const words = data.platform.name.split(" "), seed = words.find((w) => w.startsWith("seed="));
  const name = data.platform.name.includes("=") ? ` (generated: ${[words[0], seed].filter(Boolean).join(", ")})` : "";
  const first = `${parts.join(", ")}${name}.`;
  if (!plan) return first;
  const from = data.platform.nodes[plan.root]?.[0] ?? "";
  const most = data.bound?.throughput_Bps ?? plan.bound_Bps;
  const bound = most > 0 && plan.throughput_Bps > 0 ? ` That is ${percent(plan.throughput_Bps / most)} of the upper bound, ${rate(most)}.` : "";
  const makespan = plan.makespan_s > 0 ? `, completion time ${seconds(plan.makespan_s)}` : "";
  const to = data.root >= 0 ? ` from ${from}` : "";
  const op = plan.op === "bcast" ? "Broadcast" : `${plan.op[0].toUpperCase()}${plan.op.slice(1)}`;
  return `${first} ${op}${to} by ${maker(plan)}: ${rate(plan.throughput_Bps)}${makespan}.${bound}`;
}

function showNode(node: number) {
  network.mark(node);
  element("details").textContent = network.describe(node, links);
}

function listNodes(plan: Plan | undefined) {
  const load = (n: number) => (plan ? percent((plan.load[n] ?? 0) / 1000) : "-");
  listHosts(data.platform, links, load, showNode);
}

function showPlan(index: number) {
  const plan = data.plans[index];
  current = index;
  if (plan) {
    network.show(index, plan);
    sites.show(index, plan);
    links = network.links(index);
    fill("busiest", plan.busiest.map(([text, load]) => [cell(text), cell(percent(load), true), bar(load)]));
  }
  timeline.show(plan?.timeline);
  element("summary").textContent = summary(plan);
  listNodes(plan);
}

// What is not in the picture is not in its legend.
function showLegend() {
  const find = (what: string) => network.svg.querySelector(what);
  element("legend-root").hidden = data.root < 0;
  element("legend-relay").hidden = !find(".node.relay");
  element("legend-switch").hidden = !find(".node.switch");
  element("legend-cut").hidden = !find(".cut");
  element("legend-side").hidden = !find(".node.side");
}

function start() {
  const choice = element<HTMLSelectElement>("plan");
  element("title").textContent = data.title;
  // Options tell plans of one algorithm apart.
  const one = (plan: Plan) => data.plans.filter((p) => maker(p) === maker(plan)).length === 1;
  data.plans.forEach((plan, i) =>
    choice.append(new Option(`${one(plan) ? maker(plan) : plan.algo} (${plan.trees.length === 1 ? "1 tree" : `${plan.trees.length} trees`})`, String(i))));
  choice.addEventListener("change", () => showPlan(Number(choice.value)));
  element("plan-label").hidden = element("trees").hidden = !data.plans.length;
  element("bound").hidden = !data.bound && !data.plans.length;
  const limits = data.bound?.text ?? "";
  element("bound-text").textContent = limits && `${limits[0].toUpperCase()}${limits.slice(1)}.`;
  element("bound-text").hidden = element("bottlenecks").hidden = !data.bound;
  if (!data.bound) element("bound-title").textContent = "Load";
  showLegend();
  // So many cover the plan.
  if (data.plans.length && data.platform.links > MANY_LINKS) element("show-links").click();
  fill("bottlenecks", (data.bound?.bottlenecks ?? []).map(([text, price]) => [cell(text), cell(price < 0.0005 ? "< 0.1%" : percent(price), true)]));
  element("find").addEventListener("input", () => listNodes(data.plans[current]));
  showComparison(data);
  showPlan(0);
}

start();
