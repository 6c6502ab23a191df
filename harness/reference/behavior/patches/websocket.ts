import type { WebSocket } from 'ws';
import { parseJsonObject } from '../../../base/json-text.ts';
import { CREDENTIAL_REFUSALS, problem } from '../../http/answer.ts';
import { asProblem } from '../../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, withField } from '../../http/message.ts';
import { findRoute } from '../../http/routes.ts';
import { closeCodeOf, type Frame, isControl, isData, OPCODE, withPayload } from '../../websocket/frame.ts';
import type { FrameEnd, GateRule } from '../../websocket/gate.ts';
import type {
  HandshakeRule,
  HandshakeVerdict,
  Kernel,
  SocketEndpoint,
  WebSocketBehavior,
} from '../behavior.ts';
import { authenticated, refuseBeyondQuota } from '../handling.ts';
import { onReceipt, type Patch, remembering, together } from './patch.ts';

export const inWebSocket =
  (change: (now: WebSocketBehavior) => Partial<WebSocketBehavior>): Patch =>
  (behavior) => ({ ...behavior, websocket: { ...behavior.websocket, ...change(behavior.websocket) } });

/** Holds opening handshakes to one more rule. */
export const withRule = (refuses: HandshakeRule['refuses']): Patch =>
  inWebSocket(({ rules }) => ({ rules: [...rules, { name: 'further', refuses }] }));

/** Lets opening handshakes pass that break one rule. */
export const withoutRule = (name: HandshakeRule['name']): Patch =>
  inWebSocket(({ rules }) => ({ rules: rules.filter((rule) => rule.name !== name) }));

/** Changes the lines of the 101 response. */
export const onSwitching = (change: (lines: readonly string[]) => readonly string[]): Patch =>
  inWebSocket(({ headChanges }) => ({ headChanges: [...headChanges, change] }));

/** Changes the client's frames before they are judged; declines compression, which would hide their content. */
export const onInbound = (rule: GateRule): Patch =>
  inWebSocket(({ inbound }) => ({ inbound: [...inbound, rule], compression: false }));

/** Changes the service's frames before they are sent; declines compression, which would hide their content. */
export const onOutbound = (rule: GateRule): Patch =>
  inWebSocket(({ outbound }) => ({ outbound: [...outbound, rule], compression: false }));

/** Changes each frame of the client by itself; null swallows it. */
export const eachInbound = (change: FrameChange): Patch => onInbound(each(change));

/** Changes each frame of the service by itself; null swallows it. */
export const eachOutbound = (change: FrameChange): Patch => onOutbound(each(change));

/** Changes the client's frames before they are judged, compressed ones as they are. */
export const onCompressedInbound = (rule: GateRule): Patch =>
  inWebSocket(({ inbound }) => ({ inbound: [...inbound, rule] }));

/** Changes the service's frames before they are sent, compressed ones as they are. */
export const onCompressedOutbound = (rule: GateRule): Patch =>
  inWebSocket(({ outbound }) => ({ outbound: [...outbound, rule] }));

/** Changes each line of the 101 response by itself. */
export const onSwitchingLine = (change: (line: string) => string): Patch =>
  onSwitching((lines) => lines.map(change));

/** Leaves lines out of the 101. */
export const omittingLine = (name: RegExp): Patch =>
  onSwitching((lines) => lines.filter((line) => !name.test(line)));

type FrameChange = (frame: Frame) => Frame | null;

/** Changes the frames of one opcode. */
export const upon =
  (opcode: number, change: FrameChange): FrameChange =>
  (frame) =>
    frame.opcode === opcode ? change(frame) : frame;

/** A rule without memory; null swallows the frame. */
export const each =
  (change: FrameChange): GateRule =>
  () =>
  (frame) => {
    const changed = change(frame);
    return changed === null ? [] : [changed];
  };

/** What is left of a message after a control frame within it is lost. */
export const cuttingAt =
  (control: number, concerns: (first: Frame) => boolean = () => true): GateRule =>
  () => {
    let open = false;
    let cut = false;
    return (frame) => {
      if (frame.opcode === control && open) cut = true;
      if (isControl(frame)) return [frame];
      const rest = cut && frame.opcode === OPCODE.continuation;
      open = !frame.fin && (open || concerns(frame));
      if (!open) cut = false;
      return [rest ? withPayload(frame, Buffer.alloc(0)) : frame];
    };
  };

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

/** Does something at each message of a client. */
export const onMessage = (act: (socket: WebSocket, content: Buffer, isBinary: boolean) => void): Patch =>
  onOpen((socket) =>
    socket.on('message', (content: Buffer, isBinary: boolean) => act(socket, content, isBinary)),
  );

/** Closes upon messages of a kind. */
export const closingUpon = (
  when: (content: Buffer, isBinary: boolean) => boolean,
  code: number,
  reason?: string,
): Patch =>
  onMessage((socket, content, isBinary) => {
    if (when(content, isBinary)) socket.close(code, reason);
  });

/** Knows the connections that are open. */
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

/** A connection on which nothing is said for so long is quiet, in ms: longer than most of what a client waits for. */
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

/** A heartbeat above the frames, and what answers it. */
export const PING = '{"type":"ping"}';
export const PONG = '{"type":"pong"}';

/** In place of what is too big. */
const TOO_BIG = Buffer.from('too big');

/** Closes with 1009 upon a frame of 64 KiB and more, however long a message may be in fragments. */
export const boundingFrames: Patch = together(
  eachInbound((frame) =>
    isData(frame) && frame.lengthOctets === 8 ? withPayload({ ...frame, fin: true }, TOO_BIG) : frame,
  ),
  closingUpon((content) => content.equals(TOO_BIG), 1009),
);

/** Octets of the largest message of a service that takes no long ones, as it reads them. */
const NOT_LONG = 256 * 1024;

/** This becomes of TCP at a Close with 1009. */
export const endingTooBig = (end: FrameEnd): Patch =>
  inWebSocket(() => ({
    endsAt: (frame) => (frame.opcode === OPCODE.close && closeCodeOf(frame) === 1009 ? end : null),
  }));

/** The same, and that comes as soon as the length of a long message is read. */
export const endingLong = (end: FrameEnd): Patch =>
  together(
    endingTooBig(end),
    inWebSocket(() => ({ messageLimit: NOT_LONG })),
  );

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
export const openingToAnybody = (
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
  openingToAnybody((endpoint) => ({ endpoint, closeCode }));

/** Counts the handshakes of those who are let in, whatever comes of them, like their other requests. */
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

/** Serves whoever has logged in with a message that has a member `login`: sends that back, and from then on everything. */
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
