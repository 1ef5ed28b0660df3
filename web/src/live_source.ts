// Asks the advisor again and again; says when it does not answer, and goes on asking.
import type { Call, Kept, State } from "./live_state";

const EVERY_MS = 1000, SLOWEST_MS = 5000, PATIENCE_MS = 8000, KEPT = 1000;

export class Source {
  readonly calls: Kept[] = []; // oldest first
  private token = new URLSearchParams(location.search).get("token") ?? "";
  private instance = "";
  private last = 0;
  private taken = false; // another advisor has taken over
  private failures = 0;
  private timer = 0;
  private paused = false;

  constructor(private onState: (state: State) => Promise<void>,
              private onLink: (kind: "live" | "lost" | "paused", why: string) => void) {
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.ask();
    });
    this.ask();
  }

  async get<T>(path: string): Promise<T> {
    const answer = await fetch(path, {
      headers: { Authorization: `Bearer ${this.token}` }, cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as T;
  }

  pause(on: boolean) {
    this.paused = on;
    if (on) this.onLink("paused", "paused");
    else this.ask();
  }

  private ask() {
    clearTimeout(this.timer);
    if (this.paused || document.hidden) return;
    this.get<State>(`/api/state?since=${this.last}`)
      .then(async (state) => {
        this.keep(state);
        await this.onState(state);
        this.failures = 0;
        if (!this.paused) this.onLink("live", "live");
      })
      .catch((error: Error) => {
        this.failures++;
        const gone = error.name === "TypeError" || error.name === "TimeoutError";
        this.onLink("lost", gone ? "connection lost, trying again" : error.message);
      })
      .finally(() => {
        const wait = Math.min(SLOWEST_MS, EVERY_MS * Math.max(1, this.failures));
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.ask(), wait);
      });
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
