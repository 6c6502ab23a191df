import { expect, it } from 'vitest';
import type { HandshakeStimulus } from '../../../harness/engine/session/websocket/handshake-stimulus.ts';
import { OPCODE } from '../../../harness/wire/conversation/frame.ts';
import { otherThan, type Service, sendingIn, sentTo } from '../fixtures/memory-session.ts';
import { damaging, deaf, dropping, echoing, type HeardFrame, pinging } from '../fixtures/peer.ts';
import { configOf } from '../fixtures/said.ts';
import * as deflate from './deflate.ts';
import * as dialect from './dialect.ts';
import * as echo from './echo.ts';
import * as frames from './frames.ts';
import * as forms from './handshake-forms.ts';
import * as leftAlone from './left-alone.ts';
import * as liveness from './liveness.ts';
import * as ordinary from './ordinary-client.ts';
import * as beside from './side-by-side.ts';

const PROBES = sendingIn(deflate, dialect, echo, frames, forms, leftAlone, liveness, ordinary, beside);
const CONFIG = configOf({
  exchange: [
    { send: 'ask', expect: {} },
    { send: 'again', expect: {} },
  ],
});
const DEFLATE = 'permessage-deflate';
const offerIn = ({ fields = [] }: HandshakeStimulus) =>
  fields.find(([name]) => name === 'Sec-WebSocket-Extensions')?.[1] ?? null;

/** Takes an offer of permessage-deflate that has this in it. */
const compressing =
  (part = DEFLATE): Service =>
  (stimulus) => {
    const isTaken = offerIn(stimulus)?.includes(part) ?? false;
    const fields = [['Sec-WebSocket-Extensions', DEFLATE]] as const;
    return { ...(isTaken && { fields }), peer: echoing(isTaken) };
  };
const isLong = ({ payload, opcode }: HeardFrame) => payload.length > 60_000 && opcode < OPCODE.close;

const SERVICES: Readonly<Record<string, Service>> = {
  'compresses for clients that let it bound their window': compressing('client_max_window_bits'),
  'answers Pings alone': () => ({ peer: pinging }),
  'is deaf': () => ({ peer: deaf }),
  'drops long messages': () => ({ peer: dropping(echoing(), isLong) }),
  'damages every message but the first': (stimulus) => ({
    ...compressing()(stimulus),
    peer: damaging(compressing()(stimulus).peer, (payload) => String(payload) !== 'conform'),
  }),
  'refuses all but ordinary handshakes': ({ fields, without, target, method }) => ({
    status: fields || without || target || method ? 400 : 101,
    peer: echoing(),
  }),
};

const usual = await sentTo(() => compressing(), CONFIG, PROBES);

it('each stimulus is sent as it always was', async () => {
  const all = await sentTo(() => compressing(), CONFIG, PROBES);
  await expect(otherThan(new Map(), all)).toMatchFileSnapshot('./fixtures/sent/all.txt');
});

it.each(Object.entries(SERVICES))('to a service that %s, these are sent otherwise', async (what, service) => {
  const all = await sentTo(() => service, CONFIG, PROBES);
  await expect(otherThan(usual, all)).toMatchFileSnapshot(`./fixtures/sent/${what.replaceAll(' ', '-')}.txt`);
});
