// What the advisor tells, and the calls that it told of before.
import type { Call, Kept, State } from "./live_state";
import { Poller, type Link } from "./poller";

const KEPT = 1000;

export class Source {
  readonly calls: Kept[] = []; // oldest first
  private instance = "";
  private last = 0;
  private taken = false; // another advisor has taken over
  private poller: Poller;

  constructor(onState: (state: State) => Promise<void>, onLink: (kind: Link, why: string) => void) {
    this.poller = new Poller(() => `/api/state?since=${this.last}`, async (answer) => {
      this.keep(answer as State);
      await onState(answer as State);
    }, onLink);
  }

  get<T>(path: string): Promise<T> {
    return this.poller.get<T>(path);
  }

  pause(on: boolean) {
    this.poller.pause(on);
  }

  private keep(state: State) {
    if (this.instance && state.instance !== this.instance) {
      this.taken = true;
      this.instance = state.instance;
      this.last = 0; // of this answer the first calls are missing: the next has all
      return;
    }
    this.instance = state.instance;
    this.last = state.last;
    this.add(state.calls);
  }

  private add(calls: Call[]) {
    const now = Date.now();
    calls.forEach((call) => {
      const key = `${this.instance}/${call.n}`;
      this.calls.push({ ...call, key, at: now - 1000 * call.ago_s, first: this.taken });
      this.taken = false;
    });
    this.calls.splice(0, Math.max(0, this.calls.length - KEPT));
  }
}
