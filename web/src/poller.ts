// Asks the program again and again; says when it does not answer, and goes on asking.
const EVERY_MS = 1000, SLOWEST_MS = 5000, PATIENCE_MS = 8000;

export type Link = "live" | "lost" | "paused";

export class Poller {
  private token = new URLSearchParams(location.search).get("token") ?? "";
  private failures = 0;
  private timer = 0;
  private paused = false;

  constructor(private path: () => string, private onAnswer: (answer: unknown) => Promise<void>,
              private onLink: (kind: Link, why: string) => void) {
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
    this.get<unknown>(this.path())
      .then(async (answer) => {
        await this.onAnswer(answer);
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
}
