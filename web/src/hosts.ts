// The list of hosts, which the keyboard and screen readers can use where the drawing is of
// no help.
import { element, type Platform } from "./data";
import type { Links } from "./network";
import { cell, fill } from "./table";

const LISTED = 4; // of those that a host sends to: its details name all

export function listHosts(platform: Platform, links: Links, last: (node: number) => string,
                          onNode: (node: number) => void) {
  const words = element<HTMLInputElement>("find").value.toLowerCase();
  const { nodes, sites } = platform;
  const names = (list: number[] = []) => {
    const shown = list.length > LISTED + 1 ? list.slice(0, LISTED) : list;
    const rest = list.length - shown.length;
    return shown.map((n) => nodes[n][0]).join(", ") + (rest ? ` and ${rest} more` : "");
  };
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
