import { describe, expect, it } from 'vitest';
import { Secret } from '../../../base/secret.ts';
import { type EventSchemeName, eventScheme, type SignedEvent } from './event-signature.ts';
import type { VerificationKey } from './verification-key.ts';

/** An event as a receiver gets it: its headers by name, and its body. */
function event(scheme: EventSchemeName, fields: Readonly<Record<string, string>>, body: string): SignedEvent {
  const field = (name: string) => fields[name];
  return {
    signature: field((eventScheme(scheme).header ?? 'x-signature').toLowerCase()) ?? '',
    field,
    body: Buffer.from(body),
    request: {
      method: 'POST',
      url: 'https://www.example.com/parameters',
      target: '/parameters',
      fields: Object.entries(fields),
    },
  };
}

const keyOf = (text: string): VerificationKey => ({ secret: new Secret('SECRET', text), encoding: 'text' });

interface Example {
  readonly scheme: EventSchemeName;
  readonly secret: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Of the documents of each, but for that of Stripe, which openssl made. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  'Standard Webhooks': {
    scheme: 'standard-webhooks',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    fields: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature':
        'v1a,AAAA v1,bm9ldHUjKzFob2VudXRob2VodWUzMjRvdWVvdW9ldQo= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
  },
  Stripe: {
    scheme: 'stripe',
    secret: 'whsec_example',
    fields: {
      'stripe-signature':
        't=1492774577, v1=00,v1=dab00c4c03611d901b9927891a819396694839cb0029a848f742f14a29ac6409,v0=11',
    },
    body: '{"id":"evt_1"}',
  },
  Slack: {
    scheme: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    fields: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  },
};

describe.each(Object.entries(EXAMPLES))(
  'an event signed in the way of %s',
  (_name, { scheme, secret, fields, body }) => {
    const isSigned = (by: string, changed: Readonly<Record<string, string>>, content: string) =>
      eventScheme(scheme).worth(event(scheme, changed, content), { key: keyOf(by), prefix: '' }) === 'valid';

    it('is taken with its secret alone', () => {
      expect(isSigned(secret, fields, body)).toBe(true);
      expect(isSigned(`${secret.slice(0, -2)}AA`, fields, body)).toBe(false);
    });

    it('is not taken with another body', () => {
      expect(isSigned(secret, fields, `${body} `)).toBe(false);
    });

    it('is not taken with another time or id', () => {
      for (const [name, value] of Object.entries(fields)) {
        const changed = {
          ...fields,
          [name]: value.replace(/\d(?=\d{5})/, (digit) => String((Number(digit) + 1) % 10)),
        };
        if (changed[name] !== value) expect(isSigned(secret, changed, body)).toBe(false);
      }
    });

    it('tells its time', () => {
      expect(eventScheme(scheme).time?.readTime(event(scheme, fields, body))).toMatch(/^\d{10}$/);
    });
  },
);

it('nothing else is taken for a signature', () => {
  for (const scheme of ['standard-webhooks', 'stripe', 'slack'] as const) {
    for (const signature of ['', 'v1', 'v1,', 'v0=', 't=1,v1=', 'v1=']) {
      const name = (eventScheme(scheme).header ?? '').toLowerCase();
      const means = { key: keyOf('secret'), prefix: '' };
      expect(eventScheme(scheme).worth(event(scheme, { [name]: signature }, '{}'), means)).toBe('wrong');
    }
  }
});

// RFC 9421, appendices B.1.5 and B.2.5.
describe('an event signed as a message', () => {
  const fields = {
    date: 'Tue, 20 Apr 2021 02:07:55 GMT',
    'content-type': 'application/json',
    'signature-input':
      'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    signature: 'sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:',
  };
  const written = 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==';
  const key: VerificationKey = { secret: new Secret('SECRET', written), encoding: 'base64' };
  const { worth, time } = eventScheme('rfc9421');
  const received = (changed: Readonly<Record<string, string>>, body: string): SignedEvent => {
    const made = event('rfc9421', { ...fields, ...changed }, body);
    return { ...made, request: { ...made.request, url: 'https://example.com/foo', target: '/foo' } };
  };
  const worthOf = (changed: Readonly<Record<string, string>>, body: string, by: VerificationKey = key) =>
    worth(received(changed, body), { key: by, prefix: '' });

  it('holds for what it covers, and by its key', () => {
    expect(worthOf({ host: 'example.com' }, '')).toBe('valid');
    expect(worthOf({ host: 'example.com', 'content-type': 'text/plain' }, '')).toBe('invalid');
    expect(worthOf({ host: 'example.com' }, '', keyOf(written))).toBe('invalid');
    expect(worthOf({ host: 'example.com', signature: '' }, '')).toBe('invalid');
  });

  it('must cover the body where there is one', () => {
    expect(worthOf({ host: 'example.com' }, '{}')).toBe('uncovered');
  });

  it('tells its time', () => {
    expect(time?.readTime(received({}, ''))).toBe('1618884473');
  });

  it('cannot be judged where what it covers cannot be told, or nobody knows the algorithm', () => {
    expect(worthOf({}, '')).toEqual({ untold: expect.stringContaining('"@authority" is not known here') });
    const input = `${fields['signature-input']};alg="of-tomorrow"`;
    expect(worthOf({ host: 'example.com', 'signature-input': input }, '')).toEqual({
      untold: 'the algorithm of sig-b25 is unknown here',
    });
  });
});
