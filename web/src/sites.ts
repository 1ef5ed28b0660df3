// Large networks and dense plans: each site is one circle with the number of its hosts, and
// what goes from site to site one cable, as wide as the part of the message that it carries.
// A click on a site opens it, and another closes it. Which begin so says the program, whose
// pictures are drawn in the same way (src/report/overview.c).
import { percent, type Platform } from "./data";
import type { Network, Shown } from "./network";

const SVG = "http://www.w3.org/2000/svg";
const CLOSED = 0.62; // the circle of a closed site, as part of the open one
const CROWDED = 0.78; // the same where names would be too small to read
const READABLE = 9; // pixels of letters on the screen
const WIDE = 2.6; // a name within the circle: so many radii over its letters
const NODE = 14; // from a node's middle to where a cable ends
const WIDEST = 0.35, THINNEST = 0.06; // cables, as parts of a closed site's circle

interface Point {
  x: number;
  y: number;
}

interface End extends Point {
  key: string;
  r: number;
}

interface Cable {
  a: End;
  b: End;
  load: number;
  transfers: number;
}

export class Sites {
  private open = new Set<number>();
  private places: Point[] = [];
  private discs: (Point & { r: number })[] = [];
  private ways = new Map<string, SVGPathElement>();
  private box = document.getElementById("by-site") as HTMLInputElement;
  private svg: SVGSVGElement;
  private index = 0;
  private plan: Shown | undefined;
  private part = CLOSED;

  constructor(network: Network, private platform: Platform, private root: number) {
    this.svg = network.svg;
    const label = this.box.closest("label") as HTMLElement;
    label.hidden = platform.sites.length < 2;
    if (label.hidden) return;
    this.learn();
    this.box.checked = this.svg.dataset.bySite !== undefined;
    this.box.addEventListener("change", () => {
      this.open.clear();
      this.draw();
    });
    this.svg.addEventListener("click", (event) => {
      const site = (event.target as Element).closest<SVGElement>("[data-s]")?.dataset.s;
      if (site !== undefined && this.box.checked) this.toggle(Number(site));
    });
    network.onTrees = () => this.draw();
    new ResizeObserver(() => this.draw()).observe(this.svg);
    network.way = (from, to) => {
      if (!this.isClosed(from) && !this.isClosed(to)) return undefined;
      return this.ways.get(`${this.end(from).key}/${this.end(to).key}`) ?? null;
    };
  }

  // Where nodes and sites are in the drawing.
  private learn() {
    const number = (e: Element, name: string) => Number(e.getAttribute(name));
    this.svg.querySelectorAll<SVGGElement>(".node").forEach((node) => {
      const at = /translate\((-?\d+) (-?\d+)\)/.exec(node.getAttribute("transform") ?? "");
      this.places[Number(node.dataset.n)] = { x: Number(at?.[1] ?? 0), y: Number(at?.[2] ?? 0) };
    });
    this.svg.querySelectorAll<SVGElement>("circle.site").forEach((c) => {
      this.discs[Number(c.dataset.s)] = { x: number(c, "cx"), y: number(c, "cy"), r: number(c, "r") };
    });
  }

  private siteOf(node: number): number {
    return this.platform.nodes[node][1];
  }

  private closed(site: number): boolean {
    return this.box.checked && site >= 0 && !this.open.has(site);
  }

  private isClosed(node: number): boolean {
    return this.closed(this.siteOf(node));
  }

  private toggle(site: number) {
    if (!this.open.delete(site)) this.open.add(site);
    this.draw();
  }

  show(index: number, plan: Shown) {
    this.index = index;
    this.plan = plan;
    if (this.discs.length) this.draw();
  }

  private end(node: number): End {
    if (!this.isClosed(node)) return { key: `n${node}`, ...this.places[node], r: NODE };
    const disc = this.discs[this.siteOf(node)];
    return { key: `s${this.siteOf(node)}`, ...disc, r: this.part * disc.r };
  }

  // What goes from end to end, in messages: the weights of the transfers of all trees that
  // are shown. Edges of which an end is closed are hidden.
  private cables(): Cable[] {
    const found = new Map<string, Cable>();
    const plan = this.svg.querySelector(`.plan[data-plan="${this.index}"]`);
    plan?.querySelectorAll<SVGGElement>(".tree").forEach((tree) => {
      const weight = this.plan?.trees[Number(tree.dataset.tree)] ?? 0;
      tree.querySelectorAll<SVGPathElement>("path.edge").forEach((path) => {
        const from = Number(path.dataset.f), to = Number(path.dataset.t);
        const hidden = this.isClosed(from) || this.isClosed(to);
        path.style.display = hidden ? "none" : "";
        const a = this.end(from), b = this.end(to);
        if (!hidden || a.key === b.key || tree.style.display === "none") return;
        const one = found.get(`${a.key}/${b.key}`) ?? { a, b, load: 0, transfers: 0 };
        one.load += weight;
        one.transfers += 1;
        found.set(`${a.key}/${b.key}`, one);
      });
    });
    return [...found.values()].sort((x, y) => y.load - x.load);
  }

  private layer(): Element {
    const old = this.svg.querySelector("#cables");
    if (old) return old;
    const group = document.createElementNS(SVG, "g");
    group.id = "cables";
    this.svg.querySelector(".site-names")?.before(group);
    return group;
  }

  private make(tag: string, set: Record<string, string | number>, text = ""): SVGElement {
    const made = document.createElementNS(SVG, tag);
    Object.entries(set).forEach(([name, value]) => made.setAttribute(name, String(value)));
    made.textContent = text;
    return made;
  }

  // From rim to rim, to the right of the straight way, so that both directions can be seen.
  private drawCable({ a, b, load, transfers }: Cable, most: number, unit: number): Element {
    const wide = unit * (THINNEST + (WIDEST - THINNEST) * (load / most));
    const head = Math.max(2 * wide, 0.25 * unit);
    const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const u = { x: (b.x - a.x) / long, y: (b.y - a.y) / long };
    const at = (e: Point, along: number, aside: number): Point =>
      ({ x: e.x + u.x * along - u.y * aside, y: e.y + u.y * along + u.x * aside });
    // Side by side within the circles, where these are circles.
    const aside = Math.min(0.7 * Math.min(a.r, b.r), 0.6 * head);
    const rim = (e: End) => Math.sqrt(Math.max(0, e.r * e.r - aside * aside));
    const text = (p: Point) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
    const start = at(a, rim(a), aside), tip = at(b, -rim(b), aside);
    const bow = at({ x: (start.x + tip.x) / 2, y: (start.y + tip.y) / 2 }, 0, 0.08 * long);
    // The head goes on where the line leads.
    const rest = Math.hypot(tip.x - bow.x, tip.y - bow.y) || 1;
    const last = { x: (tip.x - bow.x) / rest, y: (tip.y - bow.y) / rest };
    const behind = (side: number): Point =>
      ({ x: tip.x - last.x * head - last.y * side, y: tip.y - last.y * head + last.x * side });
    const neck = behind(0), left = behind(-head / 2), right = behind(head / 2);
    const group = this.make("g", { class: "cable-of" });
    const line = this.make("path", { class: "cable", "stroke-width": wide.toFixed(1),
      d: `M${text(start)}Q${text(bow)} ${text(neck)}` }) as SVGPathElement;
    group.append(line, this.make("path", { class: "cable-head", d: `M${text(left)}L${text(right)}L${text(tip)}Z` }),
      this.make("title", {}, `${percent(load)} of the message, in ${transfers} transfers`));
    this.ways.set(`${a.key}/${b.key}`, line);
    return group;
  }

  // Units of the drawing that letters have to be high.
  private least(): number {
    const box = this.svg.viewBox.baseVal, shown = this.svg.getBoundingClientRect();
    const scale = Math.min(shown.width / box.width, shown.height / box.height);
    return scale > 0 ? READABLE / scale : 0;
  }

  // A name in one line, or in two where it is too long for its circle.
  private lines(name: string, r: number): string[] {
    if (r * WIDE >= this.least() * name.length) return [name];
    const breaks = [...name.matchAll(/[.:_/-]/g)].map((m) => m.index + 1);
    const off = (at: number) => Math.abs(at - name.length / 2);
    const at = breaks.filter((b) => b < name.length).sort((x, y) => off(x) - off(y))[0];
    return at ? [name.slice(0, at), name.slice(at)] : [name];
  }

  private size(lines: string[], r: number): number {
    return r * Math.min(0.5, WIDE / Math.max(1, ...lines.map((l) => l.length)));
  }

  // On small screens circles grow as far as their sites reach.
  private choosePart() {
    const small = (name: string, site: number) =>
      this.discs[site] && this.size([name], CLOSED * this.discs[site].r) < this.least();
    this.part = this.platform.sites.some(small) ? CROWDED : CLOSED;
  }

  // A closed site: its name and how many hosts it has, within a circle that covers what
  // leads past behind it. How many is left out where it could not be read.
  private drawSite(name: string, site: number): Element[] {
    const disc = this.discs[site];
    if (!disc || !this.closed(site)) return [];
    const inside = this.platform.nodes.filter((n) => n[1] === site && !n[2]).length;
    const has = this.root >= 0 && this.siteOf(this.root) === site;
    const r = this.part * disc.r, lines = this.lines(name, r), least = this.least();
    const size = Math.max(this.size(lines, r), Math.min(least, 0.7 * r)), small = Math.min(size, 0.3 * r);
    const group = this.make("g", { class: has ? "closed root" : "closed", "data-s": site });
    const text = (y: number, px: number, what: string) =>
      this.make("text", { x: disc.x, y: (disc.y + y).toFixed(1), style: `font-size:${px.toFixed(1)}px` }, what);
    const counted = lines.length === 1 && small >= least;
    const top = counted ? -0.1 * r : (0.35 - 0.55 * (lines.length - 1)) * size;
    group.append(this.make("circle", { cx: disc.x, cy: disc.y, r }),
      ...lines.map((line, i) => text(top + 1.1 * i * size, size, line)),
      this.make("title", {}, `${name}: ${inside} hosts${has ? ", the root among them" : ""}; a click opens it`));
    if (counted) group.append(text(0.4 * r, small, inside === 1 ? "1 host" : `${inside} hosts`));
    return [group];
  }

  // Names of sites that are open: as large as can be read, where there is room for them.
  private fitNames() {
    const least = this.least(), kept: DOMRect[] = [];
    this.svg.querySelectorAll<SVGTextElement>(".site-name").forEach((name) => {
      if (this.closed(Number(name.dataset.s))) return;
      name.dataset.px ??= String(parseFloat(name.style.fontSize));
      name.style.fontSize = `${Math.max(Number(name.dataset.px), least)}px`;
      const b = name.getBBox();
      const meets = (k: DOMRect) =>
        k.x < b.x + b.width && b.x < k.x + k.width && k.y < b.y + b.height && b.y < k.y + k.height;
      if (Number(name.dataset.px) < least && kept.some(meets)) name.style.display = "none";
      else kept.push(b);
    });
  }

  private fit() {
    const hide = (e: SVGElement, hidden: boolean) => (e.style.display = hidden ? "none" : "");
    this.svg.querySelectorAll<SVGElement>("circle.site, .site-name").forEach((e) =>
      hide(e, this.closed(Number(e.dataset.s))));
    this.svg.querySelectorAll<SVGElement>(".node").forEach((e) =>
      hide(e, this.isClosed(Number(e.dataset.n))));
  }

  private draw() {
    this.svg.classList.toggle("by-site", this.box.checked);
    this.ways.clear();
    this.choosePart();
    this.fit();
    this.fitNames();
    const cables = this.cables();
    const most = Math.max(1e-9, ...cables.map((c) => c.load));
    const unit = this.part * Math.min(...this.discs.filter(Boolean).map((d) => d.r));
    this.layer().replaceChildren(...cables.map((c) => this.drawCable(c, most, unit)),
      ...this.platform.sites.flatMap((name, site) => this.drawSite(name, site)));
    this.legend();
  }

  private legend() {
    const on = this.box.checked;
    document.getElementById("by-site-text")!.hidden = !on;
    document.getElementById("legend-host")!.hidden = on;
    document.getElementById("legend-cut")!.hidden = on || !this.svg.querySelector(".cut");
    document.getElementById("legend-side")!.hidden = on || !this.svg.querySelector(".node.side");
  }
}
