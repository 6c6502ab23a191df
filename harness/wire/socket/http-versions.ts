import type { Exchange, ExchangeFailure } from '../exchange.ts';

/** Which versions of HTTP a service is asked in. All transports to it share one; a run learns more as it goes. */
export class HttpVersions {
  #isHttp2: boolean;
  /** null: unknown. */
  #speaksHttp1: boolean | null = null;

  /** @param isHttp2 the config says HTTP/2. */
  constructor(isHttp2: boolean) {
    this.#isHttp2 = isHttp2;
  }

  /** Ordinary requests go out over HTTP/2. */
  get isHttp2(): boolean {
    return this.#isHttp2;
  }

  /** Octets of HTTP/1.1 are answered as well; null if that is unknown. */
  get speaksHttp1(): boolean | null {
    return this.#isHttp2 ? this.#speaksHttp1 : true;
  }

  /** The service speaks HTTP/2 and nothing else. @returns whether that is news. */
  turnToHttp2(): boolean {
    const isNews = !this.#isHttp2;
    this.#isHttp2 = true;
    this.#speaksHttp1 = false;
    return isNews;
  }

  /** Learns from the answer to a well-formed request in HTTP/1.1. */
  sawHttp1({ response, failure }: Pick<Exchange, 'response' | 'failure'>): void {
    if (response !== null) this.#speaksHttp1 = true;
    else if (failure !== null && isOfNoHttp1(failure)) this.#speaksHttp1 = false;
  }
}

/** How a server meets HTTP/1.1 that it does not speak: an alert of TLS, frames, or the end of the connection. */
export function isOfNoHttp1({ kind, message }: ExchangeFailure): boolean {
  if (kind === 'tls') return /no.application.protocol/i.test(message);
  return kind === 'malformed' || kind === 'closed' || kind === 'reset';
}
