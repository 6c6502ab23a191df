import { describe, expect, it } from 'vitest';
import type { Credentials } from '../../config/service.ts';
import type { HttpRequest } from '../../credential/request.ts';
import { Secret } from '../../credential/secret.ts';
import { bearsSignature, SIGNATURE_RULES } from '../../provider/reference/credentials/signature.ts';
import { splitTarget } from '../../provider/reference/http/message.ts';
import { placeCredential } from './credential.ts';
import { placeFlawedSignature, type SignatureFlaw } from './signature-flaw.ts';

const secret = 'example-app-secret-for-tests';
const app = { id: '7', key: 'example-app-key', secret: new Secret('APP_SECRET', secret) };
const credentials: Credentials = { scheme: 'signed', secondKey: null, app };
const moment = { at: new Date('2026-03-02T10:00:00Z') };

const PLAIN: HttpRequest = { method: 'GET', target: '/', fields: [] };
const EVENT: HttpRequest = { ...PLAIN, method: 'POST', target: '/events', body: Buffer.from('{"data":"x"}') };
const CASES: readonly (readonly [SignatureFlaw, HttpRequest])[] = [
  ['other-method', PLAIN],
  ['other-path', PLAIN],
  ['other-query', { ...PLAIN, target: '/?conform=1' }],
  ['other-content', EVENT],
  ['stale', PLAIN],
];

/** Whether the reference provider, which shares no code with it, would take the request. */
function isTaken(request: HttpRequest | null): boolean {
  if (request === null) throw new Error('nothing was placed');
  return bearsSignature(
    {
      ...request,
      ...splitTarget(request.target),
      httpVersion: '1.1',
      body: Buffer.from(request.body ?? ''),
    },
    { ...app, secret },
    SIGNATURE_RULES,
    moment.at.getTime(),
  );
}

describe.each(CASES)('a signature with the flaw %s', (flaw, request) => {
  it('is refused where the right one is taken', () => {
    expect(isTaken(placeCredential(credentials, 'right', request, moment))).toBe(true);
    expect(isTaken(placeFlawedSignature(credentials, flaw, request, moment))).toBe(false);
  });

  it('comes with the request it spoils, of the same method, path and size', () => {
    const flawed = placeFlawedSignature(credentials, flaw, request, moment);
    expect(flawed?.method).toBe(request.method);
    expect(splitTarget(flawed?.target ?? '').path).toBe(splitTarget(request.target).path);
    expect(flawed?.body?.length).toBe(request.body?.length);
  });
});

describe('altered content', () => {
  it('stays JSON', () => {
    const flawed = placeFlawedSignature(credentials, 'other-content', EVENT, moment);
    expect(JSON.parse(Buffer.from(flawed?.body ?? '').toString())).toEqual({ data: 'y' });
  });
});

describe('another scheme', () => {
  it('has no signature to spoil', () => {
    const key = new Secret('KEY', 'example-key-for-tests');
    const bearer: Credentials = { scheme: 'bearer', key, secondKey: null, app };
    expect(placeFlawedSignature(bearer, 'stale', PLAIN, moment)).toBeNull();
  });
});
