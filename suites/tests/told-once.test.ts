import type { RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { headers } from '../headers/headers.suite.ts';
import { json } from '../json/json.suite.ts';
import { negotiation } from '../negotiation/negotiation.suite.ts';
import { amiss, configFor, holdsKey, judgedServed } from './fixtures/judged.ts';

const JSON_TYPE = { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' };

/** Serves JSON alone, and refuses clients that take none: with this content. */
const refusing =
  (content: string, fields: Record<string, string> = {}): RequestListener =>
  ({ headers: { authorization, accept = '*/*' }, url }, response) => {
    const isFound = url?.startsWith('/v1/resources?') || url === '/v1/resources';
    const status = !holdsKey(authorization) ? 401 : isFound ? 200 : 404;
    const isRefused = status === 200 && !/json|\*\/\*|application\/\*/i.test(accept);
    const challenge = { 'WWW-Authenticate': 'Bearer realm="test"' };
    response.writeHead(isRefused ? 406 : status, {
      ...(isRefused ? fields : JSON_TYPE),
      ...(status === 401 ? challenge : {}),
    });
    response.end(isRefused ? content : '{"resources":[]}');
  };

const found = async (service: RequestListener) =>
  amiss(await judgedServed(service, await configFor(), [headers, json, negotiation]));

// RFC 9110 §8.3: a message without content needs no Content-Type.
it('tells an empty 406 as an error without a body, and of nothing else', async () => {
  const [empty, explained] = [await found(refusing('')), await found(refusing('{"title":"no"}', JSON_TYPE))];
  expect(empty.filter((id) => !explained.includes(id))).toEqual(['json.error-body-present']);
});
