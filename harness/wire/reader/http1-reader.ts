import { FRAMING_FAULT, type FramingFault } from '../exchange/framing-faults.ts';
import type { FieldLine } from '../exchange.ts';
import {
  type BodyFraming,
  bodyFraming,
  FieldSection,
  LINE_STARTS,
  LineCollector,
  LONGEST_START,
  OctetCollector,
  parseChunkSize,
  parseStatusLine,
  type ReaderFailure,
  type ReaderOptions,
  type ReadResponse,
  type ResponseHead,
} from './lines.ts';

type Stage =
  | 'status'
  | 'fields'
  | 'length-body'
  | 'close-body'
  | 'chunk-size'
  | 'chunk-data'
  | 'chunk-end'
  | 'trailers'
  | 'complete'
  | 'failed';

const MAX_FIELD_LINES = 2000;
/** 1xx responses before the final one. */
const MAX_INFORMATIONAL = 32;

/**
 * Reads one HTTP/1.x response by RFC 9112 from octets in whatever pieces they come: reads on past faults
 * as long as the meaning is plain, and names every such fault. Time is the caller's to bound.
 */
export class ResponseReader {
  readonly #options: ReaderOptions;
  readonly #faults = new Set<FramingFault>();
  readonly #fault = (fault: FramingFault) => void this.#faults.add(fault);
  readonly #informational: { status: number; fields: readonly FieldLine[] }[] = [];
  readonly #body = new OctetCollector();
  #stage: Stage = 'status';
  #failure: ReaderFailure | null = null;
  readonly #line = new LineCollector();
  #fieldOctets = 0;
  /** Octets of chunk framing beyond what well-formed lines without extensions need. */
  #chunkLineOctets = 0;
  /** Octets still to come of the body or chunk. */
  #remaining = 0;
  #head: ResponseHead | null = null;
  #fields = new FieldSection(this.#fault);
  readonly #trailers = new FieldSection(this.#fault);
  #headWhole = false;
  #sawOctets = false;
  readonly #leftover = new OctetCollector();
  /** Reads the octets that follow the message; null for none. */
  #behind: ResponseReader | null = null;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** The final response's status line and fields are in. */
  get headWhole(): boolean {
    return this.#headWhole;
  }

  /** The whole message is in. */
  get complete(): boolean {
    return this.#stage === 'complete';
  }

  /** Nothing more is to be read, for good or bad. */
  get settled(): boolean {
    return this.#stage === 'complete' || this.#stage === 'failed';
  }

  /** At least one octet came. */
  get sawOctets(): boolean {
    return this.#sawOctets;
  }

  get failure(): ReaderFailure | null {
    return this.#failure;
  }

  /** Everything wrong with the framing so far, in the order of its first appearance. */
  get faults(): readonly FramingFault[] {
    return [...this.#faults];
  }

  /** Octets follow the message. */
  get isFollowed(): boolean {
    return this.#behind !== null;
  }

  /** This is, as far as it came, the 408 that an idle connection may get before it is closed (RFC 9110 §15.5.9). */
  get mayBeIdleTimeout(): boolean {
    const isOther = this.#informational.length > 0 || (this.#head !== null && this.#head.status !== 408);
    return (
      this.#failure === null &&
      !isOther &&
      this.faults.every((fault) => fault === FRAMING_FAULT.missingReasonSpace)
    );
  }

  /** Octets after a 101 response, or after CONNECT: the first ones of the other protocol. */
  get leftover(): Uint8Array {
    return this.#leftover.octets;
  }

  /** The response as far as it came; null before its head is whole. */
  get response(): ReadResponse | null {
    if (!this.#head || !this.#headWhole) return null;
    return {
      ...this.#head,
      fields: this.#fields.lines,
      trailers: this.#trailers.lines,
      body: this.#body.octets,
      informational: this.#informational,
    };
  }

  push(octets: Uint8Array): void {
    if (octets.length > 0) this.#sawOctets = true;
    let at = 0;
    while (at < octets.length && this.#stage !== 'failed') {
      if (this.#stage === 'complete') {
        this.#afterEnd(octets.subarray(at));
        return;
      }
      at = this.#step(octets, at);
    }
  }

  /** TCP has ended: completes a body that lasts until then, or finds that something is missing. */
  end(): void {
    if (this.settled) return;
    const missing = MISSING_AT_END[this.#stage];
    if (missing) this.#fault(missing);
    if (this.#stage === 'close-body') this.#stage = 'complete';
    else this.#fail('closed');
  }

  /** Takes what the present stage can use; yields the index of the first octet left. */
  #step(octets: Uint8Array, at: number): number {
    switch (this.#stage) {
      case 'length-body':
      case 'chunk-data':
        return this.#takeBody(octets, at, Math.min(this.#remaining, octets.length - at));
      case 'close-body':
        return this.#takeBody(octets, at, octets.length - at);
      default:
        return this.#takeLine(octets, at);
    }
  }

  #takeBody(octets: Uint8Array, at: number, count: number): number {
    const room = this.#options.limits.bodyBytes - this.#body.length;
    const taken = Math.min(count, room);
    this.#body.append(octets.subarray(at, at + taken));
    if (count > room) {
      this.#fail('body-too-large');
      return at + taken;
    }
    if (this.#stage === 'close-body') return at + taken;
    this.#remaining -= taken;
    if (this.#remaining === 0) this.#stage = this.#stage === 'length-body' ? 'complete' : 'chunk-end';
    return at + taken;
  }

  #takeLine(octets: Uint8Array, at: number): number {
    const before = this.#line.length;
    const { used, line, overflow } = this.#line.take(octets, at, this.#lineRoom());
    this.#spendOnLine(used);
    if (before < LONGEST_START) this.#checkStart();
    if (this.#stage === 'failed') return at + used;
    if (overflow) this.#fail('fields-too-large');
    if (line !== null) {
      this.#line.clear();
      this.#useLine(line);
    }
    return at + used;
  }

  get #inChunkFraming(): boolean {
    return this.#stage === 'chunk-size' || this.#stage === 'chunk-end';
  }

  #lineRoom(): number {
    const spent = this.#inChunkFraming ? this.#chunkLineOctets : this.#fieldOctets;
    return this.#options.limits.fieldBytes - spent;
  }

  /** A negative count gives octets back. */
  #spendOnLine(count: number): void {
    if (this.#inChunkFraming) this.#chunkLineOctets += count;
    else this.#fieldOctets += count;
  }

  #checkStart(): void {
    const expected = LINE_STARTS[this.#stage];
    const start = this.#line.start(LONGEST_START);
    if (!expected || start === '' || expected.possible(start)) return;
    if (expected.fault) this.#fault(expected.fault);
    this.#fail('malformed');
  }

  #withoutLineEnd(line: string): string {
    if (!line.endsWith('\r\n')) this.#fault(FRAMING_FAULT.bareLf);
    const text = line.endsWith('\r\n') ? line.slice(0, -2) : line.slice(0, -1);
    if (text.includes('\r')) this.#fault(FRAMING_FAULT.bareCr);
    return text;
  }

  #useLine(raw: string): void {
    const line = this.#withoutLineEnd(raw);
    switch (this.#stage) {
      case 'status':
        this.#useStatusLine(line);
        break;
      case 'fields':
        if (line === '') this.#endHead();
        else this.#addField(this.#fields, line);
        break;
      case 'chunk-size':
        this.#useChunkSize(line, raw.length);
        break;
      case 'chunk-end':
        this.#spendOnLine(-raw.length);
        this.#stage = 'chunk-size';
        break;
      case 'trailers':
        if (line === '') this.#stage = 'complete';
        else this.#addField(this.#trailers, line);
        break;
      default:
        throw new TypeError(`no line belongs to ${this.#stage}`);
    }
  }

  #useStatusLine(line: string): void {
    if (line === '') {
      this.#fault(FRAMING_FAULT.emptyLineFirst);
      return;
    }
    this.#head = parseStatusLine(line, this.#fault);
    if (this.#head) this.#stage = 'fields';
    else this.#fail('malformed');
  }

  #addField(section: FieldSection, line: string): void {
    if (section.lines.length >= (this.#options.limits.fieldLines ?? MAX_FIELD_LINES)) {
      this.#fail('fields-too-large');
      return;
    }
    section.add(line);
  }

  #endHead(): void {
    const head = this.#head;
    if (!head) throw new TypeError('fields without a status line');
    const framing = bodyFraming(head, this.#options.method, this.#fields.lines, this.#fault);
    if (head.status >= 100 && head.status < 200 && head.status !== 101) {
      this.#endInformational(head.status);
      return;
    }
    this.#headWhole = true;
    this.#begin(framing);
  }

  #endInformational(status: number): void {
    this.#informational.push({ status, fields: this.#fields.lines });
    this.#fields = new FieldSection(this.#fault);
    this.#head = null;
    this.#stage = 'status';
    if (this.#informational.length > MAX_INFORMATIONAL) {
      this.#fail('fields-too-large');
    }
  }

  #begin(framing: BodyFraming): void {
    switch (framing.kind) {
      case 'none':
        this.#stage = 'complete';
        break;
      case 'length':
        this.#remaining = framing.octets;
        this.#stage = framing.octets === 0 ? 'complete' : 'length-body';
        break;
      case 'chunked':
        this.#stage = 'chunk-size';
        break;
      case 'until-close':
        this.#stage = 'close-body';
        break;
      case 'unknowable':
        this.#fail('malformed');
        break;
    }
  }

  #useChunkSize(line: string, lineOctets: number): void {
    const size = parseChunkSize(line, this.#fault);
    if (!size) {
      this.#fail('malformed');
      return;
    }
    // A plain size line costs nothing: a body of many small chunks is lawful. Extensions without end are not.
    if (size.plain) this.#spendOnLine(-lineOctets);
    this.#remaining = size.octets;
    this.#stage = size.octets === 0 ? 'trailers' : 'chunk-data';
  }

  #afterEnd(octets: Uint8Array): void {
    const status = this.#head?.status;
    if (status === 101 || this.#options.method === 'CONNECT') this.#leftover.append(octets);
    else if (this.#options.surplus) this.#options.surplus(octets);
    else {
      const isSurplus = () => this.#fault(this.#surplusFault);
      this.#behind ??= new ResponseReader({
        method: 'GET',
        limits: this.#options.limits,
        surplus: isSurplus,
      });
      this.#behind.push(octets);
      if (!this.#behind.mayBeIdleTimeout) isSurplus();
    }
  }

  get #surplusFault(): FramingFault {
    if (this.#options.method === 'HEAD') return FRAMING_FAULT.bodyOnHead;
    if (this.#head?.status === 204) return FRAMING_FAULT.bodyOn204;
    return this.#head?.status === 304 ? FRAMING_FAULT.bodyOn304 : FRAMING_FAULT.bytesAfterBody;
  }

  #fail(failure: ReaderFailure): void {
    this.#failure = failure;
    this.#stage = 'failed';
  }
}

/** What the end of TCP cuts off, by the stage that it meets. */
const MISSING_AT_END: Partial<Record<Stage, FramingFault>> = {
  'length-body': FRAMING_FAULT.shortBody,
  'chunk-size': FRAMING_FAULT.missingFinalChunk,
  'chunk-data': FRAMING_FAULT.missingFinalChunk,
  'chunk-end': FRAMING_FAULT.missingFinalChunk,
  trailers: FRAMING_FAULT.incompleteTrailers,
};
