// Large networks: each site is one circle with the number of its hosts, and what goes from
// site to site one cable, as wide as the part of the message that it carries. A click on a
// site opens it, and another closes it.
import { percent, type Platform } from "./data";
import type { Shown } from "./network";

const SVG = "http://www.w3.org/2000/svg";
const HOSTS = 150; // from so many on, sites begin closed
const WIDEST = 26, THINNEST = 2;

interface Point {
  x: number;
  y: number;
}

export class Sites {
  private open = new Set<number>();
  private places: Point[] = [];
  private readonly on: boolean;

  constructor(private svg: SVGSVGElement, private platform: Platform) {
    this.on = platform.hosts >= HOSTS && platform.sites.length > 1;
    if (!this.on) return;
    svg.classList.add("by-site");
    svg.querySelectorAll<SVGGElement>(".node").forEach((node) => {
      const at = /translate\((-?\d+) (-?\d+)\)/.exec(node.getAttribute("transform") ?? "");
      this.places[Number(node.dataset.n)] = { x: Number(at?.[1] ?? 0), y: Number(at?.[2] ?? 0) };
    });
    svg.addEventListener("click", (event) => {
      const site = (event.target as Element).closest<SVGElement>("[data-s]")?.dataset.s;
      if (site !== undefined) this.toggle(Number(site));
    });
  }

  private siteOf(node: number): number {
    return this.platform.nodes[node][1];
  }

  private isClosed(node: number): boolean {
    return this.siteOf(node) >= 0 && !this.open.has(this.siteOf(node));
  }

  private toggle(site: number) {
    if (!this.open.delete(site)) this.open.add(site);
    this.draw();
  }

  private index = 0;
  private plan: Shown | undefined;

  show(index: number, plan: Shown) {
    this.index = index;
    this.plan = plan;
    if (this.on) this.draw();
  }

  private centre(site: number): Point {
    const circle = this.svg.querySelector(`circle.site[data-s="${site}"]`);
    return { x: Number(circle?.getAttribute("cx")), y: Number(circle?.getAttribute("cy")) };
  }

  private end(node: number): [key: string, at: Point] {
    return this.isClosed(node)
      ? [`s${this.siteOf(node)}`, this.centre(this.siteOf(node))]
      : [`n${node}`, this.places[node]];
  }

  // What goes from end to end, in messages: the weights of the transfers of all trees.
  private cables() {
    const found = new Map<string, { a: Point; b: Point; load: number; transfers: number }>();
    const plan = this.svg.querySelector(`.plan[data-plan="${this.index}"]`);
    plan?.querySelectorAll<SVGGElement>(".tree").forEach((tree) => {
      const weight = this.plan?.trees[Number(tree.dataset.tree)] ?? 0;
      tree.querySelectorAll<SVGPathElement>("path.edge").forEach((path) => {
        const from = Number(path.dataset.f), to = Number(path.dataset.t);
        const hidden = this.isClosed(from) || this.isClosed(to);
        path.style.display = hidden ? "none" : "";
        const [a, start] = this.end(from), [b, end] = this.end(to);
        if (!hidden || a === b) return;
        const one = found.get(`${a}/${b}`) ?? { a: start, b: end, load: 0, transfers: 0 };
        one.load += weight;
        one.transfers += 1;
        found.set(`${a}/${b}`, one);
      });
    });
    return [...found.values()];
  }

  private layer(): Element {
    const old = this.svg.querySelector("#cables");
    if (old) return old;
    const group = document.createElementNS(SVG, "g");
    group.id = "cables";
    this.svg.querySelector(".site-names")?.before(group);
    return group;
  }

  private make(tag: string, set: Record<string, string | number>, text = ""): Element {
    const made = document.createElementNS(SVG, tag);
    Object.entries(set).forEach(([name, value]) => made.setAttribute(name, String(value)));
    made.textContent = text;
    return made;
  }

  private draw() {
    const cables = this.cables();
    const most = Math.max(1e-9, ...cables.map((c) => c.load));
    const drawn = cables.sort((x, y) => y.load - x.load).map(({ a, b, load, transfers }) => {
      const wide = THINNEST + (WIDEST - THINNEST) * (load / most);
      // To the right of the way, so that both directions can be seen.
      const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      const x = (a.x + b.x) / 2 - ((b.y - a.y) / long) * wide * 1.2;
      const y = (a.y + b.y) / 2 + ((b.x - a.x) / long) * wide * 1.2;
      const line = this.make("path", { class: "cable", "stroke-width": wide.toFixed(1),
        d: `M${a.x} ${a.y}Q${Math.round(x)} ${Math.round(y)} ${b.x} ${b.y}` });
      line.append(this.make("title", {}, `${percent(load)} of the message, in ${transfers} transfers`));
      return line;
    });
    // As large as the names of the sites, which are larger in large pictures.
    const size = this.svg.querySelector<SVGTextElement>(".site-name")?.style.fontSize ?? "";
    const counts = this.platform.sites.flatMap((name, site) => {
      if (this.open.has(site)) return [];
      const inside = this.platform.nodes.filter((n) => n[1] === site && !n[2]).length;
      const { x, y } = this.centre(site);
      const text = this.make("text", { class: "site-count", "data-s": site, x, y: y + 5, style: `font-size:${size}` }, String(inside));
      text.append(this.make("title", {}, `${name}: ${inside} hosts; a click opens it`));
      return [text];
    });
    this.layer().replaceChildren(...drawn, ...counts);
    this.svg.querySelectorAll<SVGGElement>(".node").forEach((node) => {
      const n = Number(node.dataset.n);
      node.style.display = this.isClosed(n) && !node.classList.contains("root") ? "none" : "";
    });
    this.svg.querySelectorAll<SVGElement>("circle.site").forEach((circle) =>
      circle.classList.toggle("open", this.open.has(Number(circle.dataset.s))));
  }
}
