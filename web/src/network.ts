// The drawing is made by the program; here it is moved, filtered and coloured.
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { element, percent, rate, type Platform } from "./data";

export interface Links {
  from: Map<number, number[]>;
  to: Map<number, number[]>;
}

const COLOURS = 8;
const colour = (tree: number) => `var(--c${Math.min(tree, COLOURS)})`;

// What of a plan is shown here.
export interface Shown {
  trees: number[]; // weights
  load: number[]; // by node, thousandths
}

const LISTED = 8; // trees that are switched by themselves, where there are more than twice as many
const DOT = 120; // of the height of the picture

// The way of a transfer in the picture: its own edge, another one, or none to be seen.
export type Way = (from: number, to: number) => SVGPathElement | null | undefined;

const box = (id: string) => document.getElementById(id) as HTMLInputElement | null;

export class Network {
  readonly svg = document.getElementById("network") as unknown as SVGSVGElement;
  private plan = 0;
  private load: number[] = [];
  private paths = new Map<string, SVGPathElement>();
  way: Way = () => undefined;
  onTrees = () => {};

  constructor(private platform: Platform, onNode: (node: number) => void) {
    this.makeZoom();
    const tell = (event: Event) => {
      const node = (event.target as Element).closest<SVGGElement>(".node");
      if (node) onNode(Number(node.dataset.n));
    };
    this.svg.addEventListener("pointerover", tell);
    this.svg.addEventListener("click", tell);
    this.toggle("show-links", "no-links");
    this.toggle("show-cut", "no-cut");
    const cut = box("show-cut")?.closest("label");
    if (cut && !this.svg.querySelector(".cut")) cut.hidden = true;
    this.toggle("show-plan", "no-plan");
    this.toggle("show-rates", "no-rates");
    box("show-load")?.addEventListener("change", () => this.showLoad());
  }

  // Another network takes the place of the one that is shown.
  replace(platform: Platform, svg: SVGSVGElement) {
    const place = this.svg.querySelector("#world")?.getAttribute("transform");
    this.platform = platform;
    this.svg.setAttribute("viewBox", svg.getAttribute("viewBox") ?? "");
    this.svg.replaceChildren(...svg.childNodes);
    if (place) this.svg.querySelector("#world")?.setAttribute("transform", place);
  }

  private makeZoom() {
    const area = select<SVGSVGElement, unknown>(this.svg);
    const behaviour = zoom<SVGSVGElement, unknown>()
      .scaleExtent([0.5, 30])
      .on("zoom", (event) => select("#world").attr("transform", event.transform.toString()));
    area.call(behaviour);
    element("zoom-in").onclick = () => area.call(behaviour.scaleBy, 1.5);
    element("zoom-out").onclick = () => area.call(behaviour.scaleBy, 1 / 1.5);
    element("zoom-fit").onclick = () => area.call(behaviour.transform, zoomIdentity);
  }

  private toggle(id: string, className: string) {
    const input = box(id);
    input?.addEventListener("change", () =>
      this.svg.classList.toggle(className, !input.checked),
    );
  }

  show(index: number, plan: Shown) {
    this.plan = index;
    this.load = plan.load;
    this.svg.querySelectorAll<SVGGElement>(".plan").forEach((g) => {
      g.style.display = Number(g.dataset.plan) === index ? "" : "none";
    });
    this.listTrees(plan);
    this.showLoad();
    this.paths.clear();
    const group = this.svg.querySelector(`.plan[data-plan="${index}"]`);
    group?.querySelectorAll<SVGGElement>(".tree").forEach((tree) =>
      tree.querySelectorAll<SVGPathElement>("path").forEach((path) =>
        this.paths.set(`${tree.dataset.tree}/${path.dataset.f}/${path.dataset.t}`, path),
      ),
    );
  }

  private listTrees(plan: Shown) {
    const list = document.getElementById("trees");
    list?.querySelectorAll("label").forEach((l) => l.remove());
    if (!list) return;
    const n = plan.trees.length, alone = n > 2 * LISTED ? LISTED : n;
    for (let t = 0; t < alone; t++) list.append(this.treeLabel(plan, t, t + 1));
    if (alone < n) list.append(this.treeLabel(plan, alone, n));
  }

  // What shows and hides the trees from the one to before the other.
  private treeLabel(plan: Shown, from: number, to: number): HTMLElement {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const swatch = document.createElement("span");
    const weight = plan.trees.slice(from, to).reduce((sum, w) => sum + w, 0);
    input.type = "checkbox";
    input.checked = true;
    input.addEventListener("change", () => {
      for (let t = from; t < to; t++) this.showTree(t, input.checked);
      this.onTrees();
    });
    swatch.className = "swatch";
    swatch.style.background = colour(from);
    const name = to === from + 1 ? `${to}` : `${from + 1} to ${to}`;
    label.append(input, swatch, ` ${name}: ${percent(weight)}`);
    return label;
  }

  private showTree(tree: number, shown: boolean) {
    const plan = this.svg.querySelector(`.plan[data-plan="${this.plan}"]`);
    const group = plan?.querySelector<SVGGElement>(`.tree[data-tree="${tree}"]`);
    if (group) group.style.display = shown ? "" : "none";
  }

  private showLoad() {
    const on = box("show-load")?.checked;
    if (on === undefined) return;
    this.svg.querySelectorAll<SVGGElement>(".node").forEach((node) => {
      const shape = node.querySelector<SVGElement>("circle, rect");
      if (!shape) return;
      const part = (this.load[Number(node.dataset.n)] ?? 0) / 10;
      shape.style.fill = on ? `color-mix(in srgb, var(--c1) ${part}%, var(--paper))` : "";
      shape.style.fillOpacity = on ? "1" : "";
    });
  }

  mark(node: number) {
    this.svg.querySelectorAll(".marked").forEach((n) => n.classList.remove("marked"));
    this.svg.querySelector(`.node[data-n="${node}"]`)?.classList.add("marked");
    this.svg.querySelectorAll<SVGPathElement>(".edge").forEach((path) => {
      const touches = path.dataset.f === String(node) || path.dataset.t === String(node);
      path.classList.toggle("marked", touches);
    });
  }

  // Slices under way: one dot each on the path of its edge.
  move(dots: { from: number; to: number; tree: number; part: number }[]) {
    const group = document.getElementById("moving");
    if (!group) return;
    while (group.childNodes.length > dots.length) group.lastChild?.remove();
    while (group.childNodes.length < dots.length)
      group.append(document.createElementNS("http://www.w3.org/2000/svg", "circle"));
    const radius = Math.max(6, this.svg.viewBox.baseVal.height / DOT);
    dots.forEach((dot, i) => {
      const circle = group.childNodes[i] as SVGCircleElement;
      const other = this.way(dot.from, dot.to);
      const path = other === undefined ? this.paths.get(`${dot.tree}/${dot.from}/${dot.to}`) : other;
      const at = path?.getPointAtLength(dot.part * path.getTotalLength());
      circle.setAttribute("r", path ? String(radius) : "0");
      circle.setAttribute("cx", String(at?.x ?? 0));
      circle.setAttribute("cy", String(at?.y ?? 0));
      circle.style.fill = colour(dot.tree);
    });
  }

  describe(node: number, links: Links): string {
    const [name, site, isSwitch, degree, slowest, fastest] = this.platform.nodes[node];
    const names = (list: number[] = []) =>
      list.map((n) => this.platform.nodes[n][0]).join(", ") || "nobody";
    const where = site >= 0 ? ` at ${this.platform.sites[site]}` : "";
    const speed =
      slowest !== null && fastest !== null
        ? slowest === fastest ? ` of ${rate(fastest)}` : ` of ${rate(slowest)} to ${rate(fastest)}`
        : "";
    const head = `${name}${where}: ${isSwitch ? "switch, " : ""}${degree} links out${speed}.`;
    if (isSwitch) return head;
    return `${head} Receives from ${names(links.to.get(node))}; sends to ${names(links.from.get(node))}.`;
  }

  links(index: number): Links {
    const links: Links = { from: new Map(), to: new Map() };
    const add = (map: Map<number, number[]>, key: number, value: number) => {
      const list = map.get(key) ?? [];
      if (!list.includes(value)) list.push(value);
      map.set(key, list);
    };
    const group = this.svg.querySelector(`.plan[data-plan="${index}"]`);
    group?.querySelectorAll<SVGPathElement>("path.edge").forEach((path) => {
      add(links.from, Number(path.dataset.f), Number(path.dataset.t));
      add(links.to, Number(path.dataset.t), Number(path.dataset.f));
    });
    return links;
  }
}
