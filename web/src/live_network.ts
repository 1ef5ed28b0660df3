// The network as it is believed to be: rates over the drawing, and the plan in force.
import { rate as rateText, percent, type Platform } from "./data";
import type { Rate } from "./live_state";
import type { Network } from "./network";

const SVG = "http://www.w3.org/2000/svg";
const TEXTS = 24; // ways that have their rate beside them

interface Point {
  x: number;
  y: number;
}

// The element in the markup of a drawing.
export function parseDrawing(text: string): SVGElement {
  const template = document.createElement("template");
  template.innerHTML = text.trim().startsWith("<svg") ? text : `<svg>${text}</svg>`;
  const svg = template.content.querySelector("svg") as SVGElement;
  return text.trim().startsWith("<svg") ? svg : (svg.firstElementChild as SVGElement);
}

export const rateColour = (factor: number) =>
  `color-mix(in oklab, var(--cut) ${Math.round(100 * Math.min(1, Math.max(0, (0.95 - factor) / 0.6)))}%, var(--c0))`;

export class Rates {
  private places: Point[] = [];
  private centres: Point[] = [];

  constructor(private network: Network) {}

  // Where nodes and sites are in the drawing.
  learn(platform: Platform) {
    this.places = [];
    this.network.svg.querySelectorAll<SVGGElement>(".node").forEach((node) => {
      const at = /translate\((-?\d+) (-?\d+)\)/.exec(node.getAttribute("transform") ?? "");
      this.places[Number(node.dataset.n)] = { x: Number(at?.[1] ?? 0), y: Number(at?.[2] ?? 0) };
    });
    this.centres = platform.sites.map((_, site) => {
      const inside = platform.nodes.map((n, i) => (n[1] === site ? this.places[i] : null));
      const points = inside.filter((p): p is Point => p !== null);
      const mean = (of: (p: Point) => number) =>
        points.reduce((sum, p) => sum + of(p), 0) / Math.max(1, points.length);
      return { x: mean((p) => p.x), y: mean((p) => p.y) };
    });
  }

  // Links between two sites lead from one to the other, others from node to node.
  private ends(rate: Rate, platform: Platform): [Point, Point] {
    const a = platform.nodes[rate.from][1], b = platform.nodes[rate.to][1];
    if (a >= 0 && b >= 0 && a !== b && rate.links > 1) return [this.centres[a], this.centres[b]];
    return [this.places[rate.from], this.places[rate.to]];
  }

  draw(rates: Rate[], platform: Platform) {
    let group = document.getElementById("rates-drawn");
    if (!group) {
      group = document.createElementNS(SVG, "g") as unknown as HTMLElement;
      group.id = "rates-drawn";
      this.network.svg.querySelector(".nodes")?.before(group);
    }
    const slowest = [...rates].sort((x, y) => x.factor - y.factor);
    const named = new Set(slowest.slice(0, TEXTS).filter((r) => r.factor < 0.8));
    group.replaceChildren(...rates.flatMap((r) => this.drawOne(r, platform, named.has(r))));
  }

  private drawOne(r: Rate, platform: Platform, named: boolean): Element[] {
    const [a, b] = this.ends(r, platform);
    const line = document.createElementNS(SVG, "path");
    const title = document.createElementNS(SVG, "title");
    const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    // To the right of the way, so that both directions can be seen.
    const side = Math.min(14, long / 8);
    const x = (a.x + b.x) / 2 - ((b.y - a.y) / long) * side;
    const y = (a.y + b.y) / 2 + ((b.x - a.x) / long) * side;
    line.setAttribute("d", `M${a.x} ${a.y}Q${Math.round(x)} ${Math.round(y)} ${b.x} ${b.y}`);
    line.setAttribute("class", "rate");
    line.style.stroke = rateColour(r.factor);
    line.style.strokeWidth = r.factor < 0.8 ? "7" : "4";
    line.style.strokeDasharray = r.factor < 0.8 ? "10 5" : ""; // not by colour alone
    line.style.strokeOpacity = r.factor < 0.8 ? "0.85" : "0.45";
    const text = `${rateText(r.factor * r.nominal_Bps)} (${percent(r.factor)})`;
    title.textContent = `${r.name}: ${text} of ${rateText(r.nominal_Bps)}`;
    line.append(title);
    if (!named) return [line];
    const label = document.createElementNS(SVG, "text");
    label.setAttribute("class", "rate-text");
    label.setAttribute("x", String(Math.round(x)));
    label.setAttribute("y", String(Math.round(y)));
    label.style.fill = "var(--cut)";
    label.textContent = text;
    return [line, label];
  }
}
