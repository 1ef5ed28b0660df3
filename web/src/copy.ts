// The page of a copy: asks the program how far it is, and shows it.
import "./style.css";
import "./live.css";
import "./copy.css";
import { bytes, element, percent, rate, seconds, type Platform } from "./data";
import { parseDrawing } from "./live_network";
import { Network } from "./network";
import { Poller } from "./poller";
import { LiveTable } from "./table";

interface Host {
  name: string;
  state: string;
  relay: boolean;
  bytes: number;
  why: string;
}

interface Copy {
  phase: string;
  elapsed_s: number;
  bytes: number | null; // of one copy; not known of a stream
  done_bytes: number;
  total_bytes: number | null;
  planned_s: number | null;
  bound_s: number | null; // what no plan can beat
  drawn: boolean;
  hosts: Host[];
}

let now: Copy | undefined;
let network: Network | undefined;
let platform: Platform | undefined;
const table = new LiveTable("hosts");
const say = (id: string, text: string) => {
  if (element(id).textContent !== text) element(id).textContent = text;
};

// Of a stream as much is known as the host has that is farthest.
const whole = (copy: Copy) => copy.bytes ?? Math.max(1, ...copy.hosts.map((h) => h.bytes));
const part = (h: Host, copy: Copy) =>
  h.state === "has it" ? 1 : Math.min(1, h.bytes / Math.max(1, whole(copy)));
const stateOf = (h: Host) => (h.relay && h.state === "copying" ? "passes on" : h.state);

function describe(name: string): string {
  const h = now?.hosts.find((x) => x.name === name);
  if (!h || !now) return `${name}: takes no part, or is where the copy comes from.`;
  const has = h.relay ? "" : `, has ${now.bytes ? percent(part(h, now)) : bytes(h.bytes)}`;
  return `${name}: ${stateOf(h)}${has}${h.why ? `; ${h.why}` : ""}.`;
}

function choose(name: string) {
  const node = platform?.nodes.findIndex((n) => n[0] === name) ?? -1;
  if (network && node >= 0) network.mark(node);
  say("details", describe(name));
}

// ---- the network ----

async function draw() {
  const { platform: fresh, svg } = await poller.get<{ platform: Platform; svg: string }>("/api/network");
  platform = fresh;
  network = new Network(fresh, (node) => choose(fresh.nodes[node][0]));
  network.replace(fresh, parseDrawing(svg) as SVGSVGElement);
  element("drawing").hidden = false;
}

function colourNodes(copy: Copy) {
  const shares = new Map(copy.hosts.map((h) => [h.name, part(h, copy)]));
  const failed = new Set(copy.hosts.filter((h) => h.state === "failed").map((h) => h.name));
  network?.svg.querySelectorAll<SVGGElement>(".node").forEach((node) => {
    const name = platform?.nodes[Number(node.dataset.n)]?.[0] ?? "";
    const shape = node.querySelector<SVGElement>("circle, rect");
    if (!shape || !shares.has(name)) return;
    const share = Math.round(100 * (shares.get(name) ?? 0));
    shape.style.fill = failed.has(name) ? "var(--cut)" : `color-mix(in srgb, var(--c2) ${share}%, var(--paper))`;
    shape.style.fillOpacity = "1";
  });
}

// ---- at a glance ----

// How much the slowest host, which is the last to have all, has so far of a rate at which all
// would take so long.
function showShare(tile: string, copy: Copy, whole_s: number | null, word: string) {
  const going = copy.hosts.filter((h) => !h.relay && h.state !== "failed");
  const share = going.length ? Math.min(...going.map((h) => part(h, copy))) : 0;
  say(`tile-${tile}`, whole_s && share && copy.elapsed_s > 0 ? percent(whole_s * share / copy.elapsed_s) : "-");
  say(`tile-${tile}-note`, copy.bytes === null ? "a stream has no end to reckon with"
    : whole_s ? `${word} ${seconds(whole_s)}` : "not known");
}

function showTiles(copy: Copy) {
  const targets = copy.hosts.filter((h) => !h.relay);
  const have = targets.filter((h) => h.state === "has it").length;
  const out = copy.hosts.filter((h) => h.state === "failed");
  const share = copy.total_bytes ? copy.done_bytes / copy.total_bytes : 0;
  const known = copy.elapsed_s > 0 && share > 0;
  say("tile-done", copy.total_bytes ? percent(share) : bytes(copy.done_bytes));
  say("tile-done-note", `${have} of ${targets.length} hosts have all of it`);
  say("tile-rate", copy.elapsed_s > 0 ? rate(copy.done_bytes / copy.elapsed_s) : "-");
  say("tile-rate-note", `${seconds(Number(copy.elapsed_s.toPrecision(2)))} so far`);
  const left = known ? copy.elapsed_s * (1 - share) / share : 0;
  say("tile-left", known ? seconds(Number(left.toPrecision(2))) : "-");
  say("tile-left-note", copy.total_bytes ? "at the rate so far" : "a stream says nothing of its end");
  showShare("bound", copy, copy.bound_s, "at best");
  showShare("plan", copy, copy.planned_s, "planned");
  say("tile-out", String(out.length));
  say("tile-out-note", out.length ? out[0].name : "nobody");
}

function showHosts(copy: Copy) {
  const words = element<HTMLInputElement>("find").value.toLowerCase();
  const wanted = copy.hosts.filter((h) => `${h.name} ${stateOf(h)}`.toLowerCase().includes(words));
  table.show(wanted.map((h) => ({
    key: h.name,
    kind: h.state,
    cells: [
      { text: h.name, press: () => choose(h.name) },
      { text: stateOf(h) },
      { text: h.relay ? "" : bytes(h.bytes), number: true },
      { part: h.relay ? 0 : part(h, copy) },
      { text: h.why },
    ],
  })));
}

async function show(copy: Copy) {
  now = copy;
  if (copy.drawn && !network) await draw();
  colourNodes(copy);
  const size = copy.bytes ? `${bytes(copy.bytes)} ` : "";
  say("summary", `${size}to ${copy.hosts.filter((h) => !h.relay).length} hosts: ${copy.phase}.`);
  showTiles(copy);
  showHosts(copy);
}

const poller = new Poller(() => "/api/state", (answer) => show(answer as Copy), (kind, text) => {
  element("link").dataset.kind = kind;
  document.body.classList.toggle("lost", kind === "lost");
  say("link-text", kind !== "lost" || !now ? text : now.phase === "it is over" ? "the copy has ended"
    : "the copy has ended, or cannot be reached: this was its last word");
});
element("find").addEventListener("input", () => now && showHosts(now));
element("pause").addEventListener("click", () => {
  const on = element("pause").getAttribute("aria-pressed") !== "true";
  element("pause").setAttribute("aria-pressed", String(on));
  say("pause", on ? "Go on" : "Pause");
  poller.pause(on);
});
