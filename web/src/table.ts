// Tables: their cells, and filling them.
import { element } from "./data";

export const cell = (text: string, number = false) => {
  const td = document.createElement("td");
  td.textContent = text;
  if (number) td.className = "number";
  return td;
};

export function bar(part: number): HTMLTableCellElement {
  const td = document.createElement("td");
  const inner = document.createElement("div");
  td.className = "bar-cell";
  inner.className = "bar-fill";
  inner.style.width = `${Math.max(0.5, Math.min(100, 100 * part))}%`;
  td.append(inner);
  return td;
}

export function fill(table: string, rows: HTMLTableCellElement[][]) {
  const body = element(table).querySelector("tbody") as HTMLElement;
  body.replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(...cells);
      return row;
    }),
  );
}

// ---- tables that are filled again and again ----

export interface Cell {
  text?: string;
  number?: boolean;
  part?: number; // a bar of that part
  title?: string;
  kind?: string; // a class
  press?: () => void; // the text is a button
}

function makeCell(first: boolean, c: Cell): HTMLTableCellElement {
  const td = c.part !== undefined ? bar(0) : cell("", c.number);
  if (first && c.press) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "name";
    td.append(button);
  }
  return td;
}

function fillCell(td: HTMLTableCellElement, c: Cell) {
  const inside = td.firstElementChild as HTMLElement | null;
  if (c.part !== undefined && inside) {
    const wide = `${Math.max(0.5, Math.min(100, 100 * c.part)).toFixed(1)}%`;
    if (inside.style.width !== wide) inside.style.width = wide;
  } else {
    const place = inside ?? td;
    if (place.textContent !== c.text) place.textContent = c.text ?? "";
    if (inside) inside.onclick = c.press ?? null;
  }
  if (td.title !== (c.title ?? "")) td.title = c.title ?? "";
  if (c.kind !== undefined && td.dataset.kind !== c.kind) td.dataset.kind = c.kind;
}

// Rows keep their elements while their keys stay, so that focus and selection do too.
export class LiveTable {
  private rows = new Map<string, HTMLTableRowElement>();
  private body: HTMLElement;

  constructor(id: string) {
    this.body = element(id).querySelector("tbody") as HTMLElement;
  }

  show(rows: { key: string; kind?: string; cells: Cell[] }[]) {
    const keys = new Set(rows.map((r) => r.key));
    this.rows.forEach((row, key) => {
      if (keys.has(key)) return;
      row.remove();
      this.rows.delete(key);
    });
    let at: Element | null = this.body.firstElementChild;
    rows.forEach(({ key, kind, cells }) => {
      let row = this.rows.get(key);
      if (!row) {
        row = document.createElement("tr");
        row.append(...cells.map((c, i) => makeCell(i === 0, c)));
        this.rows.set(key, row);
      }
      if (row.dataset.kind !== (kind ?? "")) row.dataset.kind = kind ?? "";
      cells.forEach((c, i) => fillCell((row as HTMLTableRowElement).cells[i], c));
      if (row === at) at = at.nextElementSibling;
      else this.body.insertBefore(row, at);
    });
  }
}
