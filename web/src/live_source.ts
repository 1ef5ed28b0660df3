// Asks the advisor again and again; says when it does not answer, and goes on asking.
import type { Call, Kept, State } from "./live_state";

const EVERY_MS = 1000, SLOWEST_MS = 5000, PATIENCE_MS = 8000, KEPT = 1000;

export class Source {
  readonly calls: Kept[] = []; // oldest first
  private token = new URLSearchParams(location.search).get("token") ?? "";
  private instance = "";
  private last = 0;
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
    const another = this.instance !== "" && state.instance !== this.instance;
    if (another && this.last > 0) {
      this.last = 0; // this answer left out what the new one had before: ask again
      this.instance = state.instance;
      this.add(state, state.calls, true);
      if (state.calls.length < state.last) return;
    } else {
      this.add(state, state.calls, another);
    }
    this.instance = state.instance;
    this.last = state.last;
  }

  private add(state: State, calls: Call[], another: boolean) {
    const now = Date.now();
    const have = new Set(this.calls.slice(-600).map((c) => c.key));
    calls.forEach((call, i) => {
      const key = `${state.instance}/${call.n}`;
      if (!have.has(key))
        this.calls.push({ ...call, key, at: now - 1000 * call.ago_s, first: another && i === 0 });
    });
    this.calls.splice(0, Math.max(0, this.calls.length - KEPT));
  }
}
