import { describe, expect, it } from 'vitest';
import { type EventSchemeName, eventScheme, isSignedWith, type SignedEvent } from './event-signature.ts';

/** An event as a receiver gets it: its headers by name, and its body. */
function event(scheme: EventSchemeName, fields: Readonly<Record<string, string>>, body: string): SignedEvent {
  const field = (name: string) => fields[name];
  return {
    signature: field((eventScheme(scheme).header ?? 'x-signature').toLowerCase()) ?? '',
    field,
    body: Buffer.from(body),
  };
}

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
      isSignedWith(by, event(scheme, changed, content), { scheme, prefix: '' });

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
      expect(eventScheme(scheme).time?.(event(scheme, fields, body))).toMatch(/^\d{10}$/);
    });
  },
);

it('nothing else is taken for a signature', () => {
  for (const scheme of ['standard-webhooks', 'stripe', 'slack'] as const) {
    for (const signature of ['', 'v1', 'v1,', 'v0=', 't=1,v1=', 'v1=']) {
      const name = (eventScheme(scheme).header ?? '').toLowerCase();
      expect(isSignedWith('secret', event(scheme, { [name]: signature }, '{}'), { scheme, prefix: '' })).toBe(
        false,
      );
    }
  }
});
