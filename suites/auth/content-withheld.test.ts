import type { RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { simulatedClock } from '../../harness/engine/simulation/clock.ts';
import { configFor, holdsKey, judgedServed } from '../tests/fixtures/judged.ts';
import { auth } from './auth.suite.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const ID = 'auth.content-withheld';
const WITHHELD = { ...auth, checks: auth.checks.filter(({ id }) => id === ID) };

const LONG = '{"resources":["one of them","another one"]}';
const REFUSAL = '{"title":"no key"}';

interface Served {
  readonly sample: string;
  readonly unknown: string;
  readonly refusal: string;
}

const OUTCOMES: readonly (readonly [string, Served, string])[] = [
  ['keeps long content', { sample: LONG, unknown: REFUSAL, refusal: REFUSAL }, 'pass'],
  ['refuses with long content', { sample: LONG, unknown: REFUSAL, refusal: LONG }, 'fail'],
  ['keeps short content', { sample: '{"total":7}', unknown: REFUSAL, refusal: REFUSAL }, 'pass'],
  ['refuses with short content', { sample: '{"total":7}', unknown: '', refusal: '{"total":7}\n' }, 'fail'],
  ['is empty everywhere', { sample: '{"data":null}', unknown: '', refusal: '{"data":null}' }, 'skipped'],
  ['has a word for all', { sample: 'OK', unknown: 'OK', refusal: 'OK' }, 'skipped'],
  ['repeats its content at every path', { sample: LONG, unknown: LONG, refusal: REFUSAL }, 'pass'],
  ['repeats its content everywhere', { sample: LONG, unknown: LONG, refusal: LONG }, 'blocked'],
];

it.for(OUTCOMES)('a service that %s', async ([, { sample, unknown, refusal }, outcome]) => {
  const serve: RequestListener = ({ url, headers: { authorization } }, response) => {
    if (!holdsKey(authorization)) {
      response.writeHead(401, { ...JSON_TYPE, 'WWW-Authenticate': 'Bearer realm="api"' });
      return response.end(refusal);
    }
    const isKnown = url === '/v1/resources';
    return response.writeHead(isKnown ? 200 : 404, JSON_TYPE).end(isKnown ? sample : unknown);
  };
  const clock = simulatedClock();
  const ran = await judgedServed(serve, await configFor(), [WITHHELD], { clock });
  clock.stop();
  expect(ran.outcomes[ID]).toBe(outcome);
});
