import { type FaultSide, firstGot, NO_RESPONSE } from '../../base/finding.ts';
import { Blocked, NotApplicable, Violation } from '../../base/verdict.ts';
import { closeCodeMeaning, type FrameRule, OPCODE } from '../../wire/conversation/frame.ts';
import type { Echo } from '../../wire/conversation/message.ts';
import type { ConversationView } from '../../wire/conversation/view.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import type { ResponseView } from '../../wire/exchange/response.ts';
import type { Probe } from '../session/probe.ts';
import {
  type EvidenceSource,
  type Gathered,
  gather,
  holdEach,
  IN_CONTENT,
  orList,
  type PieceOf,
  type ResponseReading,
  type Subject,
  THROUGHOUT,
} from './hold.ts';

export interface Expect<U = readonly Probe<unknown>[]> {
  /** The evidence of all that the check `uses`. */
  (): UsedEvidence<U>;
  /** Probes are asked one after the other. Of several pieces of evidence each is held to what is expected. */
  <const A extends readonly EvidenceSource[]>(...asked: A): Expectation<Extract<PieceOf<A[number]>, Subject>>;
  /**
   * Evidence together with what it is judged by: `about` is the piece that is named where it does not conform. Where there
   * is none the check does not apply, for this reason.
   */
  each<K>(known: readonly K[], about: (known: K) => Subject, otherwise?: string): Expectation<K>;
}

/** Unknown unless each of the probes yields evidence. */
type UsedEvidence<U> = U extends readonly (EvidenceSource & Probe<unknown>)[]
  ? Expectation<Extract<PieceOf<U[number]>, Subject>>
  : unknown;

/** What expectations need of the check that has them. */
interface Judging {
  readonly note: (remark: string) => void;
  /** Told of each expectation as it begins, so that none is forgotten. */
  readonly held: (expectation: Promise<void>) => void;
  /** Called for each piece of evidence with the result that deviates, null for none. */
  readonly judged: (evidence: string, got: string | null, isUnread?: boolean) => void;
}

interface Means<S> extends Judging {
  readonly evidence: () => Promise<Gathered<S>>;
  /** The piece of evidence that it is, or is about. */
  subject(piece: S): Subject;
  /** The side that a deviation of the piece is mended on. Default: the service. */
  faultOf?(piece: S): FaultSide;
}

/** The expectations of one check, which asks for the evidence of a probe in this way. `used`: its probes. */
export function expectIn(
  ask: <E>(probe: Probe<E>) => Promise<E>,
  judging: Judging,
  used: readonly Probe<unknown>[],
): Expect {
  const ofAll = <S extends Subject>(...named: readonly EvidenceSource[]) => {
    // `Expect` is called without arguments only if each probe yields evidence.
    const asked = named.length > 0 ? named : (used as readonly EvidenceSource[]);
    return new Expectation<S>({ ...judging, evidence: () => gather(asked, ask), subject: (piece) => piece });
  };
  return Object.assign(ofAll, {
    each<K>(known: readonly K[], about: (known: K) => Subject, otherwise = NOTHING) {
      const evidence = async () => ({ all: known, shortfall: null });
      return new Expectation({ ...judging, evidence, subject: about }).where(() => true, otherwise);
    },
  });
}

/**
 * Expectations in the field's words. A message says what was expected and what came, in one line; of several pieces
 * of evidence it names those that do not conform.
 */
export class Expectation<S> {
  readonly #means: Means<S>;

  constructor(means: Means<S>) {
    this.#means = means;
  }

  /**
   * Of those alone that are like that; what got no response is like nothing, and told where responses are judged.
   * Where there is none the check does not apply, for this reason.
   */
  where(isMeant: (piece: S) => boolean, otherwise = NOTHING): Expectation<S> {
    const evidence = async () => {
      const { all, shortfall } = await this.#means.evidence();
      const meant = all.filter((piece) => isSeen(isMeant, piece));
      if (meant.length === 0 && shortfall === null) throw new NotApplicable(otherwise);
      return { all: meant, shortfall };
    };
    return new Expectation({ ...this.#means, evidence });
  }

  /** The side that a deviation is mended on, if it may not be the service. */
  faultOf(faultOf: (piece: S) => FaultSide): Expectation<S> {
    return new Expectation({ ...this.#means, faultOf });
  }

  /**
   * For what has no expectation of its own: `wanted` and `got` complete "expected …, got …"; `got` is null when it conforms.
   *
   * @throws Blocked when nothing deviates, but not all of what the judgment needs was read.
   */
  toConform(wanted: string, got: (piece: S) => string | null, reading?: ResponseReading<S>): Promise<void> {
    return this.#begun(this.#hold(wanted, got, reading));
  }

  #begun(expectation: Promise<void>): Promise<void> {
    // Whoever waits for it hears of it; the check does so in the end.
    expectation.catch(() => undefined);
    this.#means.held(expectation);
    return expectation;
  }

  async #hold(
    wanted: string,
    got: (piece: S) => string | null,
    reading: ResponseReading<S> | undefined,
  ): Promise<void> {
    const { evidence, subject, faultOf } = this.#means;
    const { all: pieces, shortfall } = await evidence();
    // A check that has looked at nothing is not green.
    if (pieces.length === 0 && shortfall === null) throw new NotApplicable(NOTHING);
    const unread = (piece: S) => (reading === undefined ? null : unreadOf(piece, subject(piece), reading));
    const judged = reading?.partly ? pieces : pieces.filter((piece) => unread(piece) === null);
    for (const piece of pieces) {
      if (unread(piece) !== null) this.#means.judged(subject(piece).evidence, null, true);
    }
    const gotOf = (piece: S) => gotOrNoResponse(subject(piece), () => got(piece));
    holdEach(judged, wanted, gotOf, subject, this.#means.judged, faultOf);
    const unjudged = pieces.flatMap((piece) => {
      const reason = unread(piece);
      return reason === null ? [] : [`${subject(piece).to} cannot be judged for ${wanted}: ${reason}`];
    });
    const [first] = unjudged;
    if (first !== undefined) throw new Blocked(first);
    if (shortfall?.end === 'blocked') throw new Blocked(shortfall.reason);
    if (shortfall?.end === 'not-applicable') throw new NotApplicable(shortfall.reason);
    if (shortfall !== null) this.#means.note(shortfall.reason);
  }

  // --- replies ---

  /** So much of it was read as is needed to judge this. */
  toBeRead(this: Expectation<Reply>, wanted: string, reading: ResponseReading): Promise<void> {
    return this.toConform(wanted, () => null, reading);
  }

  /** One of these status codes. */
  toHaveStatus(this: Expectation<Reply>, ...accepted: readonly number[]): Promise<void> {
    return this.toConform(`status ${orList(accepted)}`, ({ response: { status } }) =>
      accepted.includes(status) ? null : statusText(status),
    );
  }

  /** A status of one of these classes: 2 for 2xx. */
  toHaveStatusClass(this: Expectation<Reply>, ...classes: readonly number[]): Promise<void> {
    const wanted = `status ${orList(classes.map((digit) => `${digit}xx`))}`;
    return this.toConform(wanted, ({ response }) =>
      classes.includes(response.statusClass) ? null : statusText(response.status),
    );
  }

  /** A status code of the IANA registry. */
  toHaveRegisteredStatus(this: Expectation<Reply>): Promise<void> {
    return this.toConform('a registered status code', ({ response }) =>
      response.isRegistered ? null : statusText(response.status),
    );
  }

  /** Anything but 2xx. */
  toBeUnserved(this: Expectation<Reply>): Promise<void> {
    return this.toConform('a refusal, no 2xx', ({ status }) =>
      status !== null && status >= 200 && status < 300 ? statusText(status) : null,
    );
  }

  /** A response, whatever its status: not a hang, a reset or a dropped connection. It may be longer than what is read. */
  toBeAnswered(this: Expectation<Reply>): Promise<void> {
    return this.toConform('a whole response', failureText);
  }

  /** No 5xx, no hang, no dropped connection. */
  toBeHandled(this: Expectation<Reply>): Promise<void> {
    return this.toConform('an answer that is no server error', (reply) => {
      const { status } = reply.response;
      return failureText(reply) ?? (status >= 500 && status !== 501 ? statusText(status) : null);
    });
  }

  toHaveField(this: Expectation<Reply>, name: string): Promise<void> {
    return this.toConform(`${article(name)} ${name} field`, ({ response }) =>
      response.has(name) ? null : `none (${statusText(response.status)})`,
    );
  }

  /** `application/json` or a `+json` media type. */
  toHaveJsonMediaType(this: Expectation<Reply>): Promise<void> {
    return this.toConform('a JSON media type', ({ response }) => foreignMediaType(response));
  }

  /** A JSON media type and one well-formed JSON text (RFC 8259). */
  toBeJson(this: Expectation<Reply>): Promise<void> {
    const wanted = 'a JSON body';
    const labelled = this.toConform(wanted, ({ response }) => foreignMediaType(response));
    const fault = ({ response }: Reply) => response.json.faults[0]?.message ?? null;
    return this.#begun(labelled.then(() => this.toConform(wanted, fault, IN_CONTENT)));
  }

  /** No secret of the run, or part of one, stands anywhere in it. */
  toHoldNoCredential(this: Expectation<Reply>): Promise<void> {
    const wanted = 'no credential in the response';
    const got = ({ response: { credentialTrace: place } }: Reply) =>
      place === null ? null : `one in ${place}`;
    return this.toConform(wanted, got, THROUGHOUT);
  }

  /** No `public` directive and no explicit freshness (RFC 9111 §5.2.2). */
  toBeUncacheable(this: Expectation<Reply>): Promise<void> {
    return this.toConform('no public directive and no freshness', ({ response }) =>
      response.cacheControl.allowsReuse ? `Cache-Control: ${response.field('cache-control')}` : null,
    );
  }

  // --- WebSocket conversations, in the words of RFC 6455 ---

  /** The opening handshake was answered 101. */
  toBeOpened(this: Expectation<ConversationView>): Promise<void> {
    return this.toConform('status 101', (conversation) =>
      conversation.opened ? null : answerText(conversation),
    );
  }

  /** The opening handshake was answered by HTTP, whatever the status, and not with 101. */
  toBeRefused(this: Expectation<ConversationView>): Promise<void> {
    return this.toConform('an HTTP error', (conversation) =>
      conversation.opened || conversation.status === null ? answerText(conversation) : null,
    );
  }

  /** Any answer but 101: none is as good as any. */
  toStayClosed(this: Expectation<ConversationView>): Promise<void> {
    return this.toConform('anything but 101', (conversation) =>
      conversation.opened ? answerText(conversation) : null,
    );
  }

  /** The service took no part in the conversation: it refused the handshake, or ended it at once. */
  toBeTurnedAway(this: Expectation<ConversationView>): Promise<void> {
    return this.toConform('a refusal', (conversation) =>
      conversation.isServed ? `status 101 and ${conversation.afterwards}` : null,
    );
  }

  /** permessage-deflate came back as it was offered, or nothing (RFC 7692 §7.1). */
  toFitTheOffer(this: Expectation<ConversationView>): Promise<void> {
    return this.toConform(
      'permessage-deflate as offered, or nothing',
      (conversation) => conversation.deflateAnswerFault,
    );
  }

  /** The service ended the conversation, with a Close frame or by ending TCP, orderly or not. */
  toEnd(this: Expectation<ConversationView>): Promise<void> {
    return this.toConform('the connection to end', (conversation) =>
      conversation.isOver ? null : conversation.afterwards,
    );
  }

  /** The Close frame of the service, where it sent one with a code, has one of these. */
  toCloseWith(this: Expectation<ConversationView>, ...codes: readonly number[]): Promise<void> {
    return this.toConform(`the close code ${orList(codes)}, or none`, ({ lawfulCloseCode: code }) =>
      code === null || codes.includes(code) ? null : `${code} (${closeCodeMeaning(code)})`,
    );
  }

  /** Each Ping was answered with its payload. */
  toAnswerPings(this: Expectation<ConversationView>): Promise<void> {
    return this.toConform('a Pong with the payload of the Ping', (conversation) => {
      const [unanswered] = conversation.unansweredPings;
      if (unanswered === undefined) return null;
      const pong = conversation.serverFrames.find(
        ({ atMs, frame }) => atMs >= unanswered.atMs && frame.opcode === OPCODE.pong,
      );
      return pong ? `one with ${pong.frame.length} other octets` : endText(conversation, 'no Pong');
    });
  }

  /** Each message sent came back with the same octets. */
  toSendBack(
    this: Expectation<ConversationView>,
    judged = ({ echoes }: ConversationView): ConversationView['echoes'] => echoes,
  ): Promise<void> {
    return this.toConform('each message back as it was', (conversation) => {
      const lost = judged(conversation).find(({ isSame }) => !isSame);
      return lost === undefined ? null : lossText(lost, conversation);
    });
  }

  /** What came back of a message is of the same kind: text as text, binary as binary. */
  toKeepKind(this: Expectation<ConversationView>): Promise<void> {
    return this.toConform('a message of the same kind back', ({ echoes }) => {
      const changed = echoes.find(({ sent, back }) => back !== null && back.kind !== sent.kind);
      return changed ? `a ${changed.back?.kind} message instead of ${messageText(changed)}` : null;
    });
  }

  /** No frame of the service breaks one of these rules. */
  toKeep(this: Expectation<ConversationView>, wanted: string, ...rules: readonly FrameRule[]): Promise<void> {
    return this.toConform(wanted, (conversation) => conversation.faultOf(...rules));
  }
}

const NOTHING = 'there is no such answer to judge';

/** A reply whose response never came violates any expectation of it, in its own words. */
function gotOrNoResponse(piece: Subject, got: () => string | null): string | null {
  try {
    return got();
  } catch (thrown) {
    if (thrown instanceof Violation && piece instanceof Reply)
      return failureText(piece) ?? firstGot(thrown.deviation);
    throw thrown;
  }
}

function unreadOf<S>(piece: S, subject: Subject, { unread }: ResponseReading<S>): string | null {
  return subject instanceof Reply && subject.exchange.response !== null
    ? unread(subject.response, piece)
    : null;
}

function isSeen<S>(isMeant: (piece: S) => boolean, piece: S): boolean {
  try {
    return isMeant(piece);
  } catch (error) {
    if (error instanceof Violation) return false;
    throw error;
  }
}

function failureText({ answered, cut, exchange }: Reply): string | null {
  return answered || cut ? null : `${NO_RESPONSE} (${exchange.failure?.message ?? 'unknown'})`;
}

function statusText(status: number): string {
  return `status ${status}`;
}

function foreignMediaType(response: ResponseView): string | null {
  if (response.isJson) return null;
  const value = response.field('content-type');
  return value === undefined ? 'no Content-Type' : `Content-Type ${value}`;
}

/** As it is spoken: `an Allow field`, `an X-Frame-Options field`. */
function article(name: string): string {
  return /^(?:[AEIO]|X-)/i.test(name) ? 'an' : 'a';
}

function answerText({ status, conversation }: ConversationView): string {
  return status === null
    ? `no HTTP answer (${conversation.failure?.message ?? 'none came'})`
    : statusText(status);
}

function lossText(lost: Echo, conversation: ConversationView): string {
  const { back } = lost;
  return back === null
    ? `${endText(conversation, 'nothing')} instead of ${messageText(lost)}`
    : `other content (${back.length} octets) instead of ${messageText(lost)}`;
}

function messageText({ sent }: Echo): string {
  return `a ${sent.kind} message of ${sent.length} octets`;
}

/** What came instead, with how the conversation ended where the service ended it. */
function endText({ serverClose, clientClose, ended, unaskedEnd }: ConversationView, what: string): string {
  if (serverClose !== null && unaskedEnd !== null) {
    return `${what} and the close code ${serverClose.code ?? 'none'}`;
  }
  return ended !== null && clientClose === null ? `${what} and the end of TCP` : what;
}
