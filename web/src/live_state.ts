// What /api/state answers; see docs/formats.md.
export interface Call {
  n: number;
  op: string;
  root: number;
  ranks: number;
  ours: boolean;
  algo: string;
  plan: number | null;
  bytes: number;
  predicted_bytes: number | null;
  ago_s: number;
  took_s: number;
  forecast_s: number | null;
  ours_s: number | null;
  native_s: number | null;
  expected: number;
  heard: number;
  skipped: number;
}

export interface PublishedPlan {
  id: number;
  root: number;
  superseded: boolean;
  trees: number;
  algo: string;
  up_to_bytes: number;
  size_bytes: number;
  slice_bytes: number | null;
  makespan_s: number | null;
  age_s: number;
  changes: number;
  calls: number;
  why: string;
}

export interface Rate {
  from: number;
  to: number;
  links: number;
  name: string;
  nominal_Bps: number;
  factor: number;
  error: number;
  low: number;
  high: number;
  calls: number; // that moved it to what it is
  probes: number;
  age_s: number;
  samples: number;
  method: string;
  past: number[]; // thousandths, oldest first
}

export interface Decision {
  op: string;
  ranks: number;
  up_to_bytes: number;
  algo: string;
  ours: number;
  native: number;
  ours_s: number | null;
  native_s: number | null;
  ours_took_s: number | null;
  native_took_s: number | null;
}

export interface State {
  instance: string;
  up_s: number;
  network: number;
  outlook: {
    busy: boolean;
    root: number;
    calls: number;
    slow: number;
    size_bytes: number | null;
    gap_s: number | null;
    last_ago_s: number | null;
  };
  probes: { sent: number; bytes: number; changed: number } | null;
  plans: PublishedPlan[];
  in_force: number | null;
  heard: number;
  rates: Rate[];
  decisions: Decision[];
  skipped: number;
  last: number;
  calls: Call[];
}

// A call as it is kept here: of which advisor, and when by this machine's clock.
export interface Kept extends Call {
  key: string;
  at: number;
  first: boolean; // of an advisor that took over from another
}

// What was forecast of the way that the call took: by the advisor, or by the ranks.
export const forecastOf = (call: Call) =>
  call.forecast_s ?? (call.ours ? call.ours_s : call.native_s);
