// What the program puts into the page; see src/report/page.c.
export type Node = [
  name: string,
  site: number,
  isSwitch: number,
  links: number,
  slowest: number | null,
  fastest: number | null,
];

export interface Timeline {
  size_bytes: number;
  slice_bytes: number;
  makespan_s: number;
  whole: boolean;
  transfers: number[]; // six each: from, to, tree, slice, start, end
}

export interface Plan {
  op: string;
  algo: string;
  by_auto: boolean; // it was not named, but chosen
  root: number;
  redundant: boolean;
  throughput_Bps: number;
  makespan_s: number;
  bound_Bps: number;
  size_bytes: number;
  slice_bytes: number;
  busiest: [text: string, load: number][];
  load: number[]; // by node, thousandths
  trees: number[]; // weights
  timeline: Timeline;
}

export interface Row {
  algo: string;
  family: string;
  makespan_s: (number | null)[];
}

export interface Platform {
  name: string;
  model: string;
  links: number;
  hosts: number;
  sites: string[];
  nodes: Node[];
}

export interface Data {
  title: string;
  ticks: number;
  root: number;
  platform: Platform;
  bound: null | {
    throughput_Bps: number;
    cut: number;
    bottlenecks: [text: string, price: number][];
    text: string;
  };
  plans: Plan[];
  compare: { sizes_bytes: number[]; bound_s: (number | null)[]; rows: Row[] };
}

export function readData(): Data {
  return JSON.parse(element("data").textContent ?? "{}") as Data;
}

export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as T;
}

// ---- numbers for people ----

function withUnit(value: number, units: [number, string][]): string {
  const unit = units.find(([size]) => value >= size) ?? units[units.length - 1];
  return `${Number((value / unit[0]).toPrecision(4))} ${unit[1]}`;
}

export const bytes = (n: number) =>
  withUnit(n, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);
// Powers of two, which classes of sizes end at, in units of their own.
export const binary = (n: number) =>
  withUnit(n, [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]);
// The name of an algorithm without its options.
export const plain = (algo: string) => algo.split(":")[0];
// Who made a plan, for people: what chose it, and what it chose.
export const maker = ({ algo, by_auto }: Plan) =>
  by_auto && plain(algo) !== "auto" ? `auto (${plain(algo)})` : plain(algo);
export const rate = (n: number) => `${bytes(n)}/s`;
export const seconds = (n: number) =>
  n === 0 ? "0 s" : withUnit(n, [[60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]);
// Of an axis whose marks are powers of ten.
export const decade = (n: number) => (n >= 1 ? `${n.toLocaleString("en")} s` : seconds(n));
export const percent = (n: number) => `${(100 * n).toFixed(1)}%`;
