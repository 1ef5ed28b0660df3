// How long calls took, beside what was forecast of them.
import uPlot from "uplot";
import { chartStyle } from "./chart";
import { bytes, element, seconds } from "./data";
import { forecastOf, type Kept } from "./live_state";

const SHOWN = 300;

export class CallChart {
  private plot: uPlot | undefined;
  private calls: Kept[] = [];
  private drawn = "";
  private chose = false;
  private choice = element<HTMLSelectElement>("kind");

  constructor() {
    this.choice.addEventListener("change", () => {
      this.chose = true;
      this.draw(true);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(true));
    new ResizeObserver(() => this.resize()).observe(element("chart"));
  }

  show(calls: Kept[]) {
    this.calls = calls;
    const ops = [...new Set(calls.map((c) => c.op))].sort();
    const have = [...this.choice.options].map((o) => o.value);
    ops.filter((op) => !have.includes(op)).forEach((op) => this.choice.append(new Option(op, op)));
    // What the advisor plans for, unless its reader has chosen something else.
    if (!this.chose && ops.includes("bcast")) this.choice.value = "bcast";
    this.draw(false);
  }

  private chosen() {
    const op = this.choice.value;
    return this.calls.filter((c) => !op || c.op === op).slice(-SHOWN);
  }

  private resize() {
    const wide = Math.max(280, element("chart").clientWidth);
    if (this.plot && this.plot.width !== wide) this.plot.setSize({ width: wide, height: 280 });
  }

  private draw(anew: boolean) {
    const calls = this.chosen();
    const key = `${calls.length}/${calls[calls.length - 1]?.key}/${this.choice.value}`;
    if (!anew && key === this.drawn) return;
    this.drawn = key;
    const positive = (v: number | null) => (v !== null && v > 0 ? v : null);
    const data = [
      calls.map((_, i) => i - calls.length + 1),
      calls.map((c) => positive(c.took_s)),
      calls.map((c) => positive(forecastOf(c))),
      calls.map((c) => positive(c.native_s)),
    ] as uPlot.AlignedData;
    element("chart-note").textContent = calls.length
      ? `the last ${calls.length} calls, the newest at the right` : "nothing to show yet";
    if (anew || !this.plot) this.make(data);
    else this.plot.setData(data);
  }

  private make(data: uPlot.AlignedData) {
    const box = element("chart");
    const { ink, axis } = chartStyle();
    const time = (_: uPlot, v: number | null) => (v === null ? "-" : seconds(v));
    const call = (_: uPlot, v: number | null) => {
      const c = v === null ? undefined : this.chosen()[v + this.chosen().length - 1];
      return c ? `${c.n}: ${c.op} of ${bytes(c.bytes)}` : "-";
    };
    this.plot?.destroy();
    box.replaceChildren();
    this.plot = new uPlot(
      {
        width: Math.max(280, box.clientWidth),
        height: 280,
        scales: { x: { time: false }, y: { distr: 3 } },
        axes: [
          { ...axis, values: (_, all) => all.map((v) => (v === 0 ? "now" : Number.isInteger(v) ? String(v) : "")) },
          { ...axis, size: 64, values: (_, all) => all.map((v) => (v === null ? "" : seconds(v))) },
        ],
        series: [
          { label: "call", value: call },
          { label: "took", stroke: ink("--c0"), width: 2, points: { show: true, size: 5 }, value: time },
          { label: "forecast", stroke: ink("--c1"), width: 2, dash: [7, 4], points: { show: false }, value: time },
          { label: "native, predicted", stroke: ink("--c8"), width: 1.5, dash: [2, 3], points: { show: false }, value: time },
        ],
      },
      data,
      box,
    );
  }
}
