// The list of hosts, which the keyboard and screen readers can use where the drawing is of
// no help.
import { element, type Platform } from "./data";
import type { Links } from "./network";
import { cell, fill } from "./table";

export function listHosts(platform: Platform, links: Links, last: (node: number) => string,
                          onNode: (node: number) => void) {
  const words = element<HTMLInputElement>("find").value.toLowerCase();
  const { nodes, sites } = platform;
  const names = (list: number[] = []) => list.map((n) => nodes[n][0]).join(", ");
  const rows: HTMLTableCellElement[][] = [];
  nodes.forEach(([name, site, isSwitch], n) => {
    const where = site >= 0 ? sites[site] : "";
    if (isSwitch || !`${name} ${where}`.toLowerCase().includes(words)) return;
    const first = cell("");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "name";
    button.textContent = name;
    button.addEventListener("click", () => onNode(n));
    first.append(button);
    rows.push([first, cell(where), cell(names(links.to.get(n))), cell(names(links.from.get(n))),
      cell(last(n), true)]);
  });
  fill("nodes", rows);
}
