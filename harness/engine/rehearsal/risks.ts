import { counted } from '../../report/results/tally.ts';
import type { Conversation } from '../../wire/conversation.ts';
import type { Evidence } from '../../wire/evidence.ts';
import type { Exchange } from '../../wire/exchange.ts';
import { SAFE_METHODS } from '../../wire/request.ts';
import type { Rehearsed } from './rehearse.ts';

/** Octets of a request head that some servers and firewalls do not take. */
const LONG_HEAD = 8 * 1024;
/** What may change something; a method that nobody has registered can have no effect. */
const CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** What of this could do harm, or alarm somebody, a line each. */
export function risksIn(sent: readonly Rehearsed[]): readonly string[] {
  const evidence = sent.map((each) => each.evidence);
  const exchanges = evidence.filter((each) => each.kind === 'exchange');
  const conversations = evidence.filter((each) => each.kind === 'conversation');
  const lines = [
    told(exchanges.filter(isChanging), (n, those) => {
      const methods = [...new Set(those.map(({ request }) => request.method))].join(', ');
      return `${n} that may change something (${methods})`;
    }),
    told(evidence.filter(isWrong), (n) => `${n} with a wrong credential, which may lock an account`),
    told(exchanges.filter(isLong), (n) => `${n} with a head of more than ${LONG_HEAD / 1024} KiB`),
    burstRisk(evidence),
    socketRisk(conversations),
  ];
  return lines.filter((line) => line !== null);
}

function told<E>(those: readonly E[], words: (n: string, those: readonly E[]) => string): string | null {
  return those.length === 0 ? null : words(counted(those.length, 'request'), those);
}

function isChanging({ request: { method }, credential }: Exchange): boolean {
  return !SAFE_METHODS.has(method) && CHANGING.has(method) && credential === 'right';
}

function isWrong(evidence: Evidence): boolean {
  return evidence.kind !== 'burst' && evidence.credential === 'wrong';
}

function isLong({ request: { target, fields } }: Exchange): boolean {
  return fields.reduce((sum, [name, value]) => sum + name.length + value.length, target.length) > LONG_HEAD;
}

function burstRisk(evidence: readonly Evidence[]): string | null {
  const bursts = evidence.filter((each) => each.kind === 'burst');
  if (bursts.length === 0) return null;
  const parallel = bursts.some(({ mode }) => mode === 'parallel') ? ', many at the same time' : '';
  return `${counted(bursts.length, 'burst')} past the plan until the service refuses${parallel}`;
}

function socketRisk(conversations: readonly Conversation[]): string | null {
  if (conversations.length === 0) return null;
  const broken = conversations.filter(isBroken).length;
  const spoilt = broken > 0 ? `, ${broken} of them broken on purpose` : '';
  return `${counted(conversations.length, 'WebSocket connection')}, up to ${mostAtOnce(conversations)} at the same time${spoilt}`;
}

/** RFC 6455 §5.1, §5.2: a client masks its frames, and uses no opcode that is reserved. */
function isBroken({ events }: Conversation): boolean {
  return events.some((event) => {
    if (event.from !== 'client') return false;
    if (event.type === 'octets') return true;
    return (
      event.type === 'frame' && (!event.frame.masked || /[3-7b-f]/.test(event.frame.opcode.toString(16)))
    );
  });
}

function mostAtOnce(conversations: readonly Conversation[]): number {
  const moments = conversations.flatMap(({ timing: { startedMs, durationMs } }) => [
    { atMs: startedMs, by: 1 },
    { atMs: startedMs + durationMs, by: -1 },
  ]);
  let [open, most] = [0, 0];
  for (const { by } of moments.toSorted((a, b) => a.atMs - b.atMs || a.by - b.by)) {
    open += by;
    most = Math.max(most, open);
  }
  return most;
}
