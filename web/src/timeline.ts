// What happens when: rows of hosts, and dots that travel on the network above.
import { bytes, element, seconds, type Data, type Timeline } from "./data";
import type { Network } from "./network";

const ROW = 14, LEFT = 110, TOP = 18, PLAY_MS = 12000;

export class TimelineView {
  private line: Timeline | undefined;
  private rows = new Map<number, number>();
  private at = 0; // part of the makespan
  private playing = 0; // animation frame
  private canvas = element<HTMLCanvasElement>("gantt");
  private slider = element<HTMLInputElement>("time");
  private button = element<HTMLButtonElement>("play");

  constructor(private data: Data, private network: Network) {
    this.slider.addEventListener("input", () => {
      this.stop();
      this.seek(Number(this.slider.value) / 1000);
    });
    this.button.addEventListener("click", () => (this.playing ? this.stop() : this.play()));
    this.canvas.addEventListener("click", (event) => {
      const inside = event.offsetX - LEFT;
      this.stop();
      this.seek(Math.max(0, Math.min(1, inside / (this.canvas.clientWidth - LEFT - 8))));
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement as Element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(line: Timeline | undefined) {
    this.line = line;
    this.stop();
    this.rows.clear();
    const seen = new Set<number>();
    const t = line?.transfers ?? [];
    for (let i = 0; i < t.length; i += 6) {
      seen.add(t[i]);
      seen.add(t[i + 1]);
    }
    [...seen].sort((a, b) => a - b).forEach((node, row) => this.rows.set(node, row));
    element("timeline").hidden = !t.length;
    if (line)
      element("timeline-text").textContent =
        `${line.whole ? "The message" : "The first part of the message"}: ` +
        `${bytes(line.size_bytes)} in slices of ${bytes(line.slice_bytes)}, ` +
        `done everywhere after ${seconds(line.makespan_s)} in simulation. ` +
        "The upper half of a row is what the host sends, the lower what it receives.";
    this.seek(0);
  }

  private play() {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.at >= 1) this.at = 0;
    if (still) {
      this.seek(1);
      return;
    }
    const began = performance.now() - this.at * PLAY_MS;
    this.button.textContent = "Pause";
    this.button.setAttribute("aria-pressed", "true");
    const step = () => {
      const part = (performance.now() - began) / PLAY_MS;
      this.seek(Math.min(1, part));
      if (part >= 1) this.stop();
      else this.playing = requestAnimationFrame(step);
    };
    this.playing = requestAnimationFrame(step);
  }

  private stop() {
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.button.textContent = "Play";
    this.button.setAttribute("aria-pressed", "false");
  }

  private seek(part: number) {
    this.at = part;
    this.slider.value = String(Math.round(part * 1000));
    const time = seconds(part * (this.line?.makespan_s ?? 0));
    element("time-text").textContent = time;
    this.slider.setAttribute("aria-valuetext", time);
    this.network.move(this.underWay(part * this.data.ticks));
    this.draw();
  }

  private underWay(now: number) {
    const t = this.line?.transfers ?? [];
    const dots = [];
    for (let i = 0; i < t.length; i += 6)
      if (t[i + 4] <= now && now < t[i + 5])
        dots.push({ from: t[i], to: t[i + 1], tree: t[i + 2],
                    part: (now - t[i + 4]) / (t[i + 5] - t[i + 4]) });
    return dots;
  }

  private draw() {
    const wide = Math.max(320, this.canvas.parentElement?.clientWidth ?? 320);
    const high = TOP + ROW * this.rows.size + 4;
    const sharp = Math.min(devicePixelRatio || 1, 16000 / high);
    this.canvas.width = wide * sharp;
    this.canvas.height = high * sharp;
    this.canvas.style.width = `${wide}px`;
    this.canvas.style.height = `${high}px`;
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.scale(sharp, sharp);
    const style = getComputedStyle(document.documentElement);
    const ink = (name: string) => style.getPropertyValue(name).trim();
    this.drawRows(pen, wide, ink);
    this.drawTransfers(pen, wide, ink);
    pen.strokeStyle = ink("--cut");
    const x = LEFT + this.at * (wide - LEFT - 8);
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x, high);
    pen.stroke();
  }

  private drawRows(pen: CanvasRenderingContext2D, wide: number, ink: (n: string) => string) {
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    this.rows.forEach((row, node) => {
      const y = TOP + ROW * row;
      if (row % 2) {
        pen.fillStyle = ink("--panel");
        pen.fillRect(0, y, wide, ROW);
      }
      pen.fillStyle = ink("--ink");
      pen.fillText(this.data.platform.nodes[node][0].slice(0, 16), 4, y + ROW / 2);
    });
    pen.fillStyle = ink("--soft");
    const total = this.line?.makespan_s ?? 0;
    const parts = wide < 640 ? 2 : 4;
    for (let i = 0; i <= parts; i++) {
      pen.textAlign = i === parts ? "right" : "left";
      pen.fillText(seconds((total * i) / parts), LEFT + ((wide - LEFT - 8) * i) / parts, 8);
    }
    pen.textAlign = "left";
  }

  private drawTransfers(pen: CanvasRenderingContext2D, wide: number, ink: (n: string) => string) {
    const t = this.line?.transfers ?? [];
    const scale = (wide - LEFT - 8) / this.data.ticks;
    const colours = Array.from({ length: 9 }, (_, i) => ink(`--c${i}`));
    if (t.length / 6 > this.rows.size * (wide - LEFT) / 8) {
      this.drawShares(pen, wide, colours);
      return;
    }
    for (let i = 0; i < t.length; i += 6) {
      const x = LEFT + t[i + 4] * scale;
      const length = Math.max(0.5, (t[i + 5] - t[i + 4]) * scale - 0.3);
      pen.fillStyle = colours[Math.min(8, t[i + 2])];
      pen.fillRect(x, TOP + ROW * (this.rows.get(t[i]) ?? 0) + 1, length, ROW / 2 - 2);
      pen.fillRect(x, TOP + ROW * (this.rows.get(t[i + 1]) ?? 0) + ROW / 2, length, ROW / 2 - 2);
    }
  }

  // More transfers than pixels: each pixel is as dark as the part of its time that is used,
  // in the colour of the tree that uses most of it.
  private drawShares(pen: CanvasRenderingContext2D, wide: number, colours: string[]) {
    const t = this.line?.transfers ?? [];
    const n = Math.max(1, Math.floor(wide - LEFT - 8)), trees = colours.length;
    const used = new Float32Array(this.rows.size * 2 * n * trees);
    const add = (half: number, tree: number, from: number, to: number) => {
      for (let x = Math.floor(from); x < Math.min(n, to); x++)
        used[(half * n + x) * trees + tree] += Math.min(to, x + 1) - Math.max(from, x);
    };
    for (let i = 0; i < t.length; i += 6) {
      const from = (t[i + 4] * n) / this.data.ticks, to = (t[i + 5] * n) / this.data.ticks;
      const tree = Math.min(trees - 1, t[i + 2]);
      add(2 * (this.rows.get(t[i]) ?? 0), tree, from, to);
      add(2 * (this.rows.get(t[i + 1]) ?? 0) + 1, tree, from, to);
    }
    for (let half = 0; half < 2 * this.rows.size; half++)
      for (let x = 0; x < n; x++) {
        const parts = used.subarray((half * n + x) * trees, (half * n + x + 1) * trees);
        const all = parts.reduce((sum, part) => sum + part, 0);
        if (!(all > 0)) continue;
        pen.fillStyle = colours[parts.indexOf(Math.max(...parts))];
        pen.globalAlpha = Math.min(1, 0.15 + 0.85 * all);
        pen.fillRect(LEFT + x, TOP + ROW * (half >> 1) + (half % 2 ? ROW / 2 : 1), 1, ROW / 2 - 2);
      }
    pen.globalAlpha = 1;
  }
}
