import { describe, expect, it } from 'vitest';
import type { Credentials } from '../config/service.ts';
import { type HttpRequest, queryOf } from '../credential/request.ts';
import { Secret } from '../credential/secret.ts';
import { createRedaction } from '../evidence/redaction/redaction.ts';
import { NotApplicable } from '../verdict.ts';
import { type CredentialChoice, credentialUse, placeChoice } from './credential.ts';

const KEY = 'example-key-for-tests';
const app = { id: '7', key: 'example-app-key', secret: new Secret('APP_SECRET', 'example-app-secret') };
const bearer: Credentials = { scheme: 'bearer', key: new Secret('KEY', KEY), secondKey: null, app };
const open: Credentials = { scheme: 'none' };
const request: HttpRequest = { method: 'GET', target: '/v1/resources', fields: [] };
const moment = { at: new Date('2026-03-02T10:00:00Z') };

const place = (choice: CredentialChoice, credentials: Credentials = bearer) =>
  placeChoice(request, choice, credentials, createRedaction(), moment);

const CARRYING: readonly CredentialChoice[] = [
  'right',
  'second',
  'signed',
  'held',
  { wrong: 'wrong' },
  { wrong: 'truncated' },
  { spelled: 'other-case-scheme' },
  { placed: { in: 'query', name: 'api_key' } },
  { placed: [{ in: 'header', name: 'X-API-Key' }] },
  { flawed: 'stale' },
];

describe('whatever carries a credential', () => {
  // What is used as `none` may go over plain http to anybody; nothing else may (`transport/plain-http.ts`).
  it.each(CARRYING)('is never taken for a request without one: %j', (choice) => {
    expect(credentialUse(choice)).not.toBe('none');
  });
});

describe('the key in places of the caller’s choice', () => {
  it('stands in all of them, and not in the configured one', () => {
    const placed = place({
      placed: [
        { in: 'query', name: 'api_key' },
        { in: 'query', name: 'token' },
        { in: 'header', name: 'X-API-Key' },
      ],
    });
    expect(queryOf(placed.target)).toEqual([
      ['api_key', KEY],
      ['token', KEY],
    ]);
    expect(placed.fields).toEqual([['X-API-Key', KEY]]);
  });
});

describe('a signature where a key is configured', () => {
  it('takes the place of the key', () => {
    const { target, fields } = place('signed');
    expect(fields).toEqual([]);
    expect(queryOf(target).map(([name]) => name)).toContain('auth_signature');
  });

  it('needs an application to sign', () => {
    expect(() => place('signed', open)).toThrow(NotApplicable);
    expect(() => place({ flawed: 'stale' })).toThrow(NotApplicable);
  });
});

describe('a credential that the request holds already', () => {
  it('stays as it is', () => {
    expect(place('held')).toBe(request);
  });
});
