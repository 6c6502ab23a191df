/** What goes on at the addresses of one verification. */
interface Activity {
  /** Something is asked of the provider. */
  readonly busy: () => boolean;
  onActivity(listener: () => void): void;
}

/** Notices that Pact does nothing; what the provider takes is not counted, it has deadlines of its own. */
export class QuietWatch {
  readonly #ms: number;
  readonly #expired: () => void;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(ms: number, route: Activity, expired: () => void) {
    this.#ms = ms;
    this.#expired = expired;
    route.onActivity(() => {
      clearTimeout(this.#timer);
      if (!route.busy() && !this.#stopped) this.#start();
    });
    this.#start();
  }

  #start(): void {
    this.#timer = setTimeout(this.#expired, this.#ms);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
