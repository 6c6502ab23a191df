import type { WebSocket } from 'ws';
import { parseJsonObject } from '../../../base/json-text.ts';
import { CREDENTIAL_REFUSALS, problem } from '../../http/answer.ts';
import { asProblem } from '../../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, withField } from '../../http/message.ts';
import { findRoute } from '../../http/routes.ts';
import { isData, withPayload } from '../../websocket/frame.ts';
import type { HandshakeRule, HandshakeVerdict, Kernel, SocketEndpoint } from '../behavior.ts';
import { authenticated, refuseBeyondQuota } from '../handling.ts';
import { eachInbound } from './frames.ts';
import { inWebSocket } from './parts.ts';
import { onReceipt, type Patch, remembering, together } from './patch.ts';

export const withRule = (refuses: HandshakeRule['refuses']): Patch =>
  inWebSocket(({ rules }) => ({ rules: [...rules, { name: 'further', refuses }] }));

/** Lets opening handshakes pass that break one rule. */
export const withoutRule = (name: HandshakeRule['name']): Patch =>
  inWebSocket(({ rules }) => ({ rules: rules.filter((rule) => rule.name !== name) }));

/** Changes the lines of the 101 response. */
export const onSwitching = (change: (lines: readonly string[]) => readonly string[]): Patch =>
  inWebSocket(({ headChanges }) => ({ headChanges: [...headChanges, change] }));

export const onSwitchingLine = (change: (line: string) => string): Patch =>
  onSwitching((lines) => lines.map(change));

export const omittingLine = (name: RegExp): Patch =>
  onSwitching((lines) => lines.filter((line) => !name.test(line)));

/** Judges handshakes that would be accepted in another way. */
export const onAccepted = (
  change: (verdict: Accepted, request: ReceivedRequest, kernel: Kernel) => HandshakeVerdict,
): Patch =>
  inWebSocket(({ judge }) => ({
    judge: (request, kernel) => {
      const verdict = judge(request, kernel);
      return verdict.accepted ? change(verdict, request, kernel) : verdict;
    },
  }));

type Accepted = HandshakeVerdict & { readonly accepted: true };

/** Says something else on a connection than its endpoint does. */
export const conversing = (
  { endpoint, ...verdict }: Accepted,
  converse: SocketEndpoint['converse'],
): HandshakeVerdict => ({ ...verdict, endpoint: { ...endpoint, converse } });

/** Does something to each connection before its endpoint does. */
export const onOpen = (act: (socket: WebSocket, kernel: Kernel) => void): Patch =>
  onAccepted((verdict, _, kernel) =>
    conversing(verdict, (socket, ...rest) => {
      act(socket, kernel);
      verdict.endpoint.converse(socket, ...rest);
    }),
  );

export const onMessage = (act: (socket: WebSocket, content: Buffer, isBinary: boolean) => void): Patch =>
  onOpen((socket) =>
    socket.on('message', (content: Buffer, isBinary: boolean) => act(socket, content, isBinary)),
  );

export const closingUpon = (
  when: (content: Buffer, isBinary: boolean) => boolean,
  code: number,
  reason?: string,
): Patch =>
  onMessage((socket, content, isBinary) => {
    if (when(content, isBinary)) socket.close(code, reason);
  });

export const knowingOpen = (patch: (open: ReadonlySet<WebSocket>) => Patch): Patch =>
  remembering(
    () => new Set<WebSocket>(),
    (open) =>
      together(
        onOpen((socket) => {
          open.add(socket);
          socket.on('close', () => open.delete(socket));
        }),
        patch(open),
      ),
  );

/** Milliseconds without a message after which a connection is quiet: longer than most waits of a client. */
const QUIET_MS = 400;

type AtQuiet = readonly ((socket: WebSocket) => void)[];

/** Does this to a connection that is quiet, then that when it still is, and so on. A Pong is no word of its client. */
export const atQuiet = (...acts: AtQuiet): Patch => atQuietBut(() => false, ...acts);

/** The same where such messages of its client are no words either. */
export const atQuietBut = (isNothing: (content: string) => boolean, ...acts: AtQuiet): Patch =>
  onOpen((socket, { clock }) => {
    let heard = 0;
    socket.on('ping', () => {
      heard += 1;
    });
    socket.on('message', (content) => {
      if (!isNothing(String(content))) heard += 1;
    });
    const watch = async () => {
      for (let quiet = 0, before = 0; socket.readyState === socket.OPEN; before = heard) {
        await clock.sleep(QUIET_MS);
        quiet = heard === before ? quiet + 1 : 0;
        if (quiet > 0) acts[quiet - 1]?.(socket);
      }
    };
    void watch();
  });

/** Ends a connection that stays quiet. */
export const endingQuiet = (end: (socket: WebSocket) => void): Patch => atQuiet(() => undefined, end);

/** A heartbeat above the frames, and what answers it. */
export const PING = '{"type":"ping"}';
export const PONG = '{"type":"pong"}';

/** Takes an element `bearer.KEY` of Sec-WebSocket-Protocol, KEY in base64url, for the Authorization field. */
export const keyFromSubprotocol: Patch = onReceipt((request) => {
  const offered = (fieldValue(request, 'sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
  const carried = offered.find((name) => name.startsWith(CARRIER));
  if (carried === undefined) return request;
  const key = Buffer.from(carried.slice(CARRIER.length), 'base64url').toString();
  return withField(request, 'Authorization', `Bearer ${key}`);
});

const CARRIER = 'bearer.';

/** Opens connections in this way where the credential is bad. */
export const openingDespiteRefusal = (
  open: (endpoint: SocketEndpoint) => Pick<Accepted, 'endpoint' | 'closeCode'>,
): Patch =>
  inWebSocket(({ judge }) => ({
    judge: (request, kernel) => {
      const verdict = judge(request, kernel);
      const match = findRoute(kernel.service.sockets, request.path);
      if (verdict.accepted || match === null) return verdict;
      if (!CREDENTIAL_REFUSALS.includes(verdict.answer.responseKind)) return verdict;
      return { accepted: true, parameters: match.parameters, ...open(match.route) };
    },
  }));

/** Opens first, and closes with a code when the credential is bad. */
export const closingWithCode = (closeCode: number): Patch =>
  openingDespiteRefusal((endpoint) => ({ endpoint, closeCode }));

/** Counts the handshakes of admitted clients like their other requests, opened or not. */
export const countingHandshakes: Patch = inWebSocket(({ rules }) => ({
  rules: rules.flatMap((rule) => (rule.name === 'credential' ? [rule, WITHIN_QUOTA] : [rule])),
}));

const WITHIN_QUOTA: HandshakeRule = {
  name: 'quota',
  refuses(request, kernel) {
    const authentication = authenticated(request, kernel);
    return authentication.admitted ? refuseBeyondQuota(request, authentication.identity, kernel) : null;
  },
};

/** The refusal of a handshake for which there is no room. */
export const OVERLOADED = asProblem(503)(problem('broken'));

/** Echoes messages once a client has logged in with a message that has a member `login`. */
export const demandingLogin = (remembers: boolean): Patch =>
  onAccepted((verdict) =>
    conversing(verdict, (socket) => {
      let isIn = false;
      socket.on('message', (content, isBinary) => {
        const isLogin = parseJsonObject(String(content))?.login !== undefined;
        if (isIn || isLogin) socket.send(content, { binary: isBinary });
        else socket.send('log in first');
        isIn ||= isLogin && remembers;
      });
    }),
  );

const GREETING = '{"type":"welcome"}';
/** Milliseconds after the opening: later than a client begins to talk. */
const LATE_MS = 100;

/** Greets late. `answersAfterMs`: from a message to its answer; null if it never answers. */
export const greetingLate = (answersAfterMs: number | null): Patch =>
  onAccepted((verdict, _, { clock }) =>
    conversing(verdict, (socket) => {
      const say = async (content: string | Buffer, afterMs: number) => {
        await clock.sleep(afterMs);
        if (socket.readyState === socket.OPEN) socket.send(String(content));
      };
      void say(GREETING, LATE_MS);
      if (answersAfterMs === null) return;
      socket.on('message', (content: Buffer) => void say(content, answersAfterMs));
    }),
  );

/** In place of a frame that is too big. */
const TOO_BIG = Buffer.from('too big');

/** Closes with 1009 upon a frame of 64 KiB and more, however long a message may be in fragments. */
export const boundingFrames: Patch = together(
  eachInbound((frame) =>
    isData(frame) && frame.lengthOctets === 8 ? withPayload({ ...frame, fin: true }, TOO_BIG) : frame,
  ),
  closingUpon((content) => content.equals(TOO_BIG), 1009),
);
