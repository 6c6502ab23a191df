import { describe, expect, it } from 'vitest';
import { Secret } from '../../base/secret.ts';
import { Blocked } from '../../base/verdict.ts';
import { exampleExchange } from '../../wire/fixtures/example-evidence.ts';
import type { CredentialChoice } from './placing.ts';
import { ReadyCredentials } from './ready-credentials.ts';
import type { KeyRequest } from './scheme.ts';
import { oauth2 } from './schemes/oauth2.ts';

const CLIENT = {
  tokenUrl: '/token',
  clientId: 'one',
  clientSecret: new Secret('CLIENT_SECRET', 'hush-hush'),
};

function token(access_token: string, more = {}): string {
  return JSON.stringify({ access_token, token_type: 'bearer', ...more });
}

describe('a key that is obtained', () => {
  function held(answers: readonly string[]) {
    const clock = { ms: 0, now: () => clock.ms };
    let asked = 0;
    const port = {
      async post(_: KeyRequest, secretsIn: (content: string, fields: readonly []) => unknown) {
        secretsIn(answers[asked++] ?? '', []);
        return exampleExchange();
      },
    };
    const ready = new ReadyCredentials(oauth2.of(CLIENT), port, clock);
    const now = async () => (await ready.for('right')).secret?.reveal();
    return { ready, now, clock, asked: () => asked };
  }

  it('is asked for once by all who need it, and by nobody who does not', async () => {
    const { ready, now, asked } = held([token('first-token')]);
    await ready.for('none');
    expect(asked()).toBe(0);
    expect(await Promise.all([now(), now(), now()])).toEqual(Array(3).fill('first-token'));
    expect(asked()).toBe(1);
  });

  it.each([
    [3600, 3_569_000, 3_570_000],
    [60, 44_900, 45_000],
  ])('of %i s is renewed before it ends', async (expires_in, still, renewed) => {
    const { now, clock } = held([token('first-token', { expires_in }), token('second-token')]);
    await now();
    clock.ms = still;
    expect(await now()).toBe('first-token');
    clock.ms = renewed;
    expect(await now()).toBe('second-token');
    clock.ms = Number.MAX_SAFE_INTEGER;
    expect(await now()).toBe('second-token');
  });

  it('that cannot be renewed is good until it ends, and nobody is asked again', async () => {
    const { now, clock, asked } = held([token('first-token', { expires_in: 60 }), 'out of order']);
    await now();
    clock.ms = 50_000;
    expect([await now(), await now()]).toEqual(['first-token', 'first-token']);
    clock.ms = 60_000;
    await expect(now()).rejects.toThrow(/credentials\.tokenUrl\): its answer is no JSON object/);
    await expect(now()).rejects.toThrow(Blocked);
    expect(asked()).toBe(2);
  });

  it('that is refused is renewed, until a new one is refused as well', async () => {
    const { ready, asked } = held([token('first-token'), token('second-token'), token('third-token')]);
    const dismissed: string[] = [];
    const sent = (choice: CredentialChoice, opening: string) =>
      ready.send(choice, async () => (await ready.for(choice)).secret?.reveal() ?? 'none', {
        isIn: (key) => key !== opening,
        dismiss: (key) => dismissed.push(key),
      });
    expect(await sent('right', 'second-token')).toBe('second-token');
    expect(await sent({ wrong: 'wrong' }, 'another')).toBe('second-token');
    expect(await sent('right', 'another')).toBe('third-token');
    expect(await sent('right', 'another')).toBe('third-token');
    expect([asked(), dismissed]).toEqual([3, ['first-token', 'second-token']]);
  });

  it('that is always refused after a while is not obtained for ever', async () => {
    const { ready, asked } = held(Array.from({ length: 100 }, (_, at) => token(`token-number-${at}`)));
    let opening = 0;
    const sent = () =>
      ready.send('right', async () => (await ready.for('right')).secret?.reveal() ?? 'none', {
        isIn: (key) => key !== `token-number-${opening}`,
        dismiss: () => undefined,
      });
    for (; opening <= 20; opening++) expect(await sent()).toBe(`token-number-${opening}`);
    await expect(sent()).rejects.toThrow(/^20 keys of this run were refused soon after/);
    await expect(sent()).rejects.toThrow(Blocked);
    expect(asked()).toBe(21);
  });
});
