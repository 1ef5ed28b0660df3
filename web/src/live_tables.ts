// The lists of the live page.
import { binary, bytes, element, percent, plain, rate as rateText, seconds, type Platform } from "./data";
import { forecastOf, type Kept, type Rate, type State } from "./live_state";
import { LiveTable, type Cell } from "./table";

const ROWS = 100;

const maybe = (value: number | null, text: (v: number) => string) =>
  value === null ? "-" : text(value);
const ago = (s: number) => (s < 1 ? "now" : s < 100 ? `${Math.round(s)} s ago` : `${seconds(Math.round(s))} ago`);

const counted = (n: number, what: string) => (n ? [`${n} ${what}${n === 1 ? "" : "s"}`] : []);

// What moved a rate to what it is believed to be.
const evidence = (r: Rate) => [...counted(r.calls, "call"), ...counted(r.probes, "probe")].join(", ") || "-";

// Blocks of eight heights: a picture that is text.
const spark = (past: number[]) =>
  past.slice(-16).map((p) => "▁▂▃▄▅▆▇█"[Math.min(7, Math.max(0, Math.floor(p / 125.1)))]).join("");

export class Tables {
  private calls = new LiveTable("calls");
  private rates = new LiveTable("rates");
  private decisions = new LiveTable("decisions");
  private plans = new LiveTable("plans");

  constructor(private onPlan: (id: number) => void) {}

  show(state: State, calls: Kept[], platform: Platform) {
    this.showCalls(calls, platform);
    this.showRates(state.rates);
    this.showDecisions(state);
    this.showPlans(state, platform);
    element("calls-empty").hidden = calls.length > 0;
    element("rates-empty").hidden = state.rates.length > 0;
    element("decisions-empty").hidden = state.decisions.length > 0;
    element("plans-empty").hidden = state.plans.length > 0;
  }

  private showCalls(calls: Kept[], platform: Platform) {
    const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
    const newest = calls.slice(-ROWS).reverse();
    this.calls.show(newest.map((c) => {
      const forecast = forecastOf(c);
      const ratio = forecast ? c.took_s / forecast : null;
      const from = platform.nodes[c.root]?.[0];
      const heard = c.expected > c.heard ? `, ${c.heard} of ${c.expected} hosts heard` : "";
      const between = c.skipped ? ` (${c.skipped} more before it)` : "";
      return {
        key: c.key,
        kind: c.first ? "again" : "",
        cells: [
          { text: String(c.n) },
          { text: clock.format(c.at) },
          { text: `${c.op}${from ? ` from ${from}` : ""}`, title: `${c.ranks} ranks${heard}${between}` },
          { text: bytes(c.bytes), number: true,
            title: maybe(c.predicted_bytes, (b) => `${bytes(b)} was predicted`) },
          { text: c.ours ? plain(c.algo) || "a plan" : "native", kind: c.ours ? "ours" : "native",
            title: c.plan ? `${c.algo}, plan ${c.plan} of the advisor` : c.algo },
          { text: maybe(forecast, seconds), number: true,
            title: c.forecast_s === null ? "as the ranks predicted when they decided" : "as the advisor expected" },
          { text: `${heard ? "≥ " : ""}${seconds(c.took_s)}`, number: true, title: heard.slice(2) },
          { text: maybe(ratio, (r) => r.toFixed(2)), number: true, kind: ratio && ratio > 1.5 ? "slow" : "" },
        ],
      };
    }));
  }

  private showRates(rates: Rate[]) {
    const sorted = [...rates].sort((a, b) => a.factor - b.factor || a.name.localeCompare(b.name));
    this.rates.show(sorted.slice(0, ROWS).map((r) => ({
      key: `${r.from}/${r.to}/${r.name}`,
      cells: [
        { text: r.name, title: `${r.links} links, nominally ${rateText(r.nominal_Bps)}` },
        { text: rateText(r.factor * r.nominal_Bps), number: true },
        { text: percent(r.factor), number: true, kind: r.factor < 0.8 ? "slow" : "",
          title: `forecasts were off by ${percent(r.error)}; ${r.method} of ${r.samples} values` },
        { text: `${percent(r.low)} to ${percent(r.high)}`, number: true, title: "as far as forecasts were off" },
        { part: r.factor },
        { text: spark(r.past), kind: "spark", title: "the last values, of nominal" },
        { text: evidence(r), title: r.factor < 0.8 ? "since it was last believed to have its full rate" : "since it is believed to have its full rate" },
        { text: ago(r.age_s), number: true },
      ],
    })));
  }

  private showDecisions(state: State) {
    const sorted = [...state.decisions].sort((a, b) =>
      a.op.localeCompare(b.op) || a.ranks - b.ranks || a.up_to_bytes - b.up_to_bytes);
    this.decisions.show(sorted.map((d) => {
      const ran = [d.ours ? `${d.ours} ours (${plain(d.algo)})` : "", d.native ? `${d.native} native` : ""];
      const took: Cell = { number: true, text:
        [maybe(d.ours_took_s, seconds), maybe(d.native_took_s, seconds)].filter((t) => t !== "-").join(", ") || "-",
        title: "the mean at the rank of the root" };
      return {
        key: `${d.op}/${d.ranks}/${d.up_to_bytes}`,
        cells: [
          { text: `${d.op}, up to ${binary(d.up_to_bytes)}, ${d.ranks} ranks` },
          { text: ran.filter(Boolean).join(", "), kind: d.ours ? "ours" : "native" },
          { text: maybe(d.ours_s, seconds), number: true },
          { text: maybe(d.native_s, seconds), number: true },
          took,
        ],
      };
    }));
  }

  private showPlans(state: State, platform: Platform) {
    const sorted = [...state.plans].sort((a, b) =>
      Number(b.id === state.in_force) - Number(a.id === state.in_force) ||
      b.calls - a.calls || a.up_to_bytes - b.up_to_bytes);
    this.plans.show(sorted.map((p) => ({
      key: String(p.id),
      kind: p.id === state.in_force ? "now" : "",
      cells: [
        { text: plain(p.algo), press: () => this.onPlan(p.id),
          title: `${p.algo}, plan ${p.id}; ${p.changes} changes before it` },
        { text: `up to ${binary(p.up_to_bytes)} from ${platform.nodes[p.root]?.[0] ?? "?"}` +
            (p.id === state.in_force ? ", in force" : "") },
        { text: maybe(p.makespan_s, seconds), number: true, title: `for ${bytes(p.size_bytes)}` },
        { text: String(p.calls), number: true },
        { text: ago(p.age_s), number: true },
        { text: p.why, kind: "why" },
      ],
    })));
  }
}
