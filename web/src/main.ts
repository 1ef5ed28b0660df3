import "uplot/dist/uPlot.min.css";
import "./style.css";
import { showComparison } from "./compare";
import { element, percent, rate, readData, seconds, type Data, type Plan } from "./data";
import { listHosts } from "./hosts";
import { Network, type Links } from "./network";
import { Sites } from "./sites";
import { bar, cell, fill } from "./table";
import { TimelineView } from "./timeline";

const data: Data = readData();
let links: Links = { from: new Map(), to: new Map() };
let current = 0;

const network = new Network(data.platform, (node) => showNode(node));
const sites = new Sites(network.svg, data.platform);
const timeline = new TimelineView(data, network);

function summary(plan: Plan | undefined): string {
  const { hosts, links: n, model, sites, nodes } = data.platform;
  const switches = nodes.length - hosts;
  const parts = [`${hosts} hosts`];
  if (switches) parts.push(`${switches} switches`);
  if (sites.length) parts.push(`${sites.length} sites`);
  parts.push(`${n} links`, `${model} model`);
  const first = `${parts.join(", ")}.`;
  if (!plan) return first;
  const from = data.platform.nodes[plan.root]?.[0] ?? "";
  const most = data.bound?.throughput_Bps ?? plan.bound_Bps;
  const bound = most > 0 ? ` No plan can do more than ${rate(most)}` : "";
  const ratio = most > 0 && plan.throughput_Bps > 0
    ? `; this one reaches ${percent(plan.throughput_Bps / most)} of it.` : bound ? "." : "";
  const makespan = plan.makespan_s > 0 ? `, makespan ${seconds(plan.makespan_s)}` : "";
  const to = data.root >= 0 ? ` from ${from}` : "";
  return `${first} ${plan.op}${to} by ${plan.algo}: ${rate(plan.throughput_Bps)}${makespan}.${bound}${ratio}`;
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

function start() {
  const choice = element<HTMLSelectElement>("plan");
  element("title").textContent = data.title;
  data.plans.forEach((plan, i) =>
    choice.append(new Option(`${plan.algo} (${plan.trees.length === 1 ? "1 tree" : `${plan.trees.length} trees`})`, String(i))));
  choice.addEventListener("change", () => showPlan(Number(choice.value)));
  element("plan-label").hidden = element("trees").hidden = !data.plans.length;
  element("bound").hidden = !data.bound && !data.plans.length;
  const limits = data.bound?.text ?? "";
  element("bound-text").textContent = limits && `${limits[0].toUpperCase()}${limits.slice(1)}.`;
  element("bottlenecks").hidden = !data.bound;
  fill("bottlenecks", (data.bound?.bottlenecks ?? []).map(([text, price]) => [cell(text), cell(percent(price), true)]));
  element("find").addEventListener("input", () => listNodes(data.plans[current]));
  showComparison(data);
  showPlan(0);
}

start();
