// Algorithms against each other and against the bound, for each size of message.
import uPlot from "uplot";
import { chartStyle } from "./chart";
import { bytes, decade, element, percent, seconds, type Data, type Row } from "./data";
import { bar, cell, fill } from "./table";

function showRanking(data: Data, index: number) {
  const { sizes_bytes, bound_s, rows } = data.compare;
  const time = (row: Row) => row.makespan_s[index] ?? Infinity;
  const shown = rows.filter((r) => isFinite(time(r))).sort((a, b) => time(a) - time(b));
  const best = shown.length ? time(shown[0]) : 0;
  const bound = bound_s[index];
  const text = bytes(sizes_bytes[index]);
  element("size-text").textContent = text;
  element("size").setAttribute("aria-valuetext", text);
  fill("ranking", shown.map((row) => [
    cell(row.algo), cell(seconds(time(row)), true),
    cell(bound ? percent(bound / time(row)) : "-", true), bar((bound ?? best) / time(row)),
  ]));
}

function drawChart(data: Data) {
  const { sizes_bytes, bound_s, rows } = data.compare;
  const box = element("chart");
  const { ink, axis } = chartStyle();
  box.replaceChildren();
  new uPlot(
    {
      width: Math.max(280, box.clientWidth),
      height: 320,
      legend: { live: false },
      scales: { x: { distr: 3, time: false }, y: { distr: 3, range: (_, least, most) => uPlot.rangeLog(least / 2, most, 10, true) } },
      axes: [
        { ...axis, label: "message size", labelSize: 22, values: (_, all) => all.map((v) => (v === null ? "" : bytes(v))) },
        { ...axis, size: 76, values: (_, all) => all.map((v) => (v === null ? "" : decade(v))) },
      ],
      series: [
        { label: "size", value: (_, v) => (v === null ? "" : bytes(v)) },
        { label: "bound", stroke: ink("--cut"), dash: [6, 4], width: 2, value: (_, v) => (v === null ? "" : seconds(v)) },
        ...rows.map((row, i) => ({
          label: row.algo,
          stroke: ink(`--c${i % 8}`),
          dash: i >= 8 ? [2, 3] : undefined,
          width: 1.6,
          value: (_: uPlot, v: number | null) => (v === null ? "" : seconds(v)),
        })),
      ],
    },
    [sizes_bytes, bound_s, ...rows.map((row) => row.makespan_s)] as uPlot.AlignedData,
    box,
  );
}

export function showComparison(data: Data) {
  const slider = element<HTMLInputElement>("size");
  const n = data.compare.sizes_bytes.length;
  element("compare").hidden = element("chart-section").hidden = !data.compare.rows.length;
  if (!data.compare.rows.length) return;
  slider.max = String(n - 1);
  slider.value = String(Math.floor((n * 2) / 3));
  slider.addEventListener("input", () => showRanking(data, Number(slider.value)));
  showRanking(data, Number(slider.value));
  drawChart(data);
  new ResizeObserver(() => drawChart(data)).observe(element("compare"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawChart(data));
}
