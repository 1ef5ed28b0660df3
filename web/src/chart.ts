// What all charts share: the colours of the page, light or dark.
import type uPlot from "uplot";

export function chartStyle() {
  const style = getComputedStyle(document.documentElement);
  const ink = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: ink("--soft"), grid: { stroke: ink("--line"), width: 0.3 }, ticks: { show: false } };
  return { ink, axis };
}
