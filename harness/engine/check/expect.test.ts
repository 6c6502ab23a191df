import { describe, it, expect as see } from 'vitest';
import { Blocked, NotApplicable, Violation } from '../../base/verdict.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import type { Exchange, FieldLine, RecordedResponse } from '../../wire/exchange.ts';
import {
  exampleExchange,
  exampleId,
  exampleResponse,
  octetsOf,
} from '../../wire/fixtures/example-evidence.ts';
import { Expectation, expectIn } from './expect.ts';
import { FRAMED, IN_CONTENT, IN_JSON, type ResponseReading, THROUGHOUT } from './hold.ts';

function reply(response: Partial<RecordedResponse> = {}, exchange: Partial<Exchange> = {}): Reply {
  return new Reply(
    exampleExchange({ purpose: 'as documented', response: exampleResponse(response), ...exchange }),
  );
}

const silent = reply(
  {},
  { response: null, failure: { kind: 'closed', message: 'the connection was closed without an answer' } },
);

const NONE = 'no whole response (the connection was closed without an answer)';

const fields = (...lines: readonly FieldLine[]): Partial<RecordedResponse> => ({ fields: lines });

const SILENT = { note: () => undefined, held: () => undefined, judged: () => undefined };

/** Of evidence at hand. */
const expect = (...all: readonly Reply[]) =>
  new Expectation<Reply>({
    evidence: async () => ({ all, shortfall: null }),
    subject: (piece) => piece,
    ...SILENT,
  });
type Expecting = ReturnType<typeof expect>;

/** What is said of it; null when it conforms. */
async function said(
  replies: readonly Reply[],
  hold: (it: Expecting) => Promise<void>,
): Promise<string | null> {
  try {
    await hold(expect(...replies));
    return null;
  } catch (thrown) {
    if (thrown instanceof Violation) return thrown.message;
    throw thrown;
  }
}

describe('an expectation', () => {
  // What the defects of the reference provider do not show.
  it.each<[string, Reply, (it: Expecting) => Promise<void>, string | null]>([
    ['a status', reply(), (it) => it.toHaveStatus(200, 204), null],
    ['a status of nobody', silent, (it) => it.toHaveStatus(200), `status 200, got ${NONE}`],
    ['an orderly answer', reply({ status: 501 }), (it) => it.toBeHandled(), null],
    ['an orderly answer', silent, (it) => it.toBeHandled(), `an answer that is no server error, got ${NONE}`],
    ['a whole response', silent, (it) => it.toBeAnswered(), `a whole response, got ${NONE}`],
    ['a field', reply(), (it) => it.toHaveField('Allow'), 'an Allow field, got none (status 200)'],
    ['JSON', reply(fields()), (it) => it.toBeJson(), 'a JSON body, got no Content-Type'],
    ['no freshness', reply(fields(['Cache-Control', 'no-store'])), (it) => it.toBeUncacheable(), null],
  ])('of %s', async (_, subject, hold, message) => {
    see(await said([subject], hold)).toBe(
      message === null ? null : `expected ${message} for GET as documented`,
    );
  });

  it('names those that do not meet it, what they have in common once, and the first as the evidence', async () => {
    const replies = [
      reply({ status: 401 }),
      reply({ status: 200 }, { id: exampleId('e2'), purpose: 'with a wrong key' }),
      reply({ status: 200 }, { id: exampleId('e3'), purpose: 'with an empty key' }),
      reply({ status: 500 }, { id: exampleId('e4'), purpose: 'with a 9 KiB key' }),
      reply({ status: 500 }, { id: exampleId('e5'), purpose: 'with half a key' }),
    ];
    await see(expect(...replies).toHaveStatus(401)).rejects.toThrow(
      see.objectContaining({
        message:
          'expected status 401, got status 200 for GET with a wrong key and for GET with an empty key; status 500 for GET with a 9 KiB key and for 1 more',
        evidence: 'e2',
      }),
    );
  });

  it('says where it is documented what those that do not meet it should be', async () => {
    const at = (status: number, documentedAt: string) => Object.assign(reply({ status }), { documentedAt });
    const [one, two, fine] = [at(500, 'api.yaml:3:5'), at(500, 'api.yaml:9:5'), at(200, 'api.yaml:1:1')];
    await see(expect(one, fine, two, one).toHaveStatus(200)).rejects.toThrow(
      see.objectContaining({ places: ['api.yaml:3:5', 'api.yaml:9:5'] }),
    );
    await see(expect(reply({ status: 500 })).toHaveStatus(200)).rejects.toThrow(
      see.objectContaining({ places: [] }),
    );
  });

  it('of nothing is no verdict', async () => {
    await see(expect().toBeHandled()).rejects.toThrow(NotApplicable);
  });

  it('is about those that are meant, and gives the reason where there are none', async () => {
    const teapots = expect(reply({ status: 418 }), reply()).where(
      ({ status }) => status === 418,
      'no teapot',
    );
    await see(teapots.toHaveStatus(418)).resolves.toBeUndefined();
    const none = expect(reply()).where(({ status }) => status === 418, 'no teapot');
    await see(none.toHaveStatus(418)).rejects.toThrow(new NotApplicable('no teapot'));
    const unanswered = expect(silent).where(({ response }) => response.status === 418, 'no teapot');
    await see(unanswered.toHaveStatus(418)).rejects.toThrow(new NotApplicable('no teapot'));
  });
});

describe('an expectation of evidence with what it is judged by', () => {
  const { each } = expectIn(() => Promise.reject(new Error('nothing is asked here')), SILENT, []);
  const pair = (page: Reply, wanted: number) => ({ page, wanted });
  const held = (...pairs: readonly ReturnType<typeof pair>[]) =>
    each(pairs, ({ page }) => page, 'no page').toConform(
      'its own status',
      ({ page: { response }, wanted }) => (response.status === wanted ? null : `status ${response.status}`),
    );

  it('names the evidence that does not conform, in the words of evidence alone', async () => {
    await see(held(pair(reply(), 200), pair(reply({ status: 404 }), 404))).resolves.toBeUndefined();
    const message = 'expected its own status, got status 200 for GET as documented';
    const other = pair(reply({}, { id: exampleId('e2') }), 404);
    await see(held(pair(reply(), 200), other)).rejects.toThrow(
      see.objectContaining({ message, evidence: 'e2' }),
    );
    await see(held(pair(silent, 200))).rejects.toThrow(`got ${NONE} for GET as documented`);
  });

  it('gives the reason where there is none', async () => {
    await see(held()).rejects.toThrow(new NotApplicable('no page'));
  });
});

describe('what was not read to its end', () => {
  const cut = reply(
    { body: { bytes: octetsOf('{"a":1,'), received: 9, truncated: true } },
    { failure: { kind: 'body-too-large', message: 'the body goes on after 7 octets' } },
  );
  const whole = reply({}, { id: exampleId('e2') });
  const held = (
    reading: ResponseReading,
    got: (reply: Reply) => string | null,
    ...replies: readonly Reply[]
  ) => see(expect(...replies).toConform('no fault', got, reading));

  it('is an answer, and served', async () => {
    see([cut.answered, cut.cut, cut.served]).toEqual([false, true, true]);
    see(await said([cut], (it) => it.toBeHandled())).toBeNull();
    see(await said([cut], (it) => it.toHaveStatus(200))).toBeNull();
  });

  it('is no verdict where the judgment needs its end', async () => {
    const blocked = 'GET as documented cannot be judged for no fault: its body goes on after 7 octets';
    await held(IN_CONTENT, () => 'a fault', cut).rejects.toThrow(new Blocked(blocked));
    await held(IN_JSON, () => null, whole, cut).rejects.toThrow(new Blocked(blocked));
    await see(expect(cut).toBeJson()).rejects.toThrow(Blocked);
  });

  it('does not hide the faults of others, nor those that are seen in it', async () => {
    await held(IN_CONTENT, () => 'a fault', cut, whole).rejects.toThrow(Violation);
    await held(THROUGHOUT, () => 'a fault', cut).rejects.toThrow(Violation);
    await held(THROUGHOUT, () => null, cut).rejects.toThrow(Blocked);
  });

  it('matters only where all of it was wanted', async () => {
    await held(FRAMED, () => null, reply(fields(['Content-Encoding', 'rot13']))).resolves.toBeUndefined();
    await held(IN_CONTENT, () => null, reply(fields(['Content-Encoding', 'rot13']))).rejects.toThrow(Blocked);
    await held(IN_CONTENT, () => 'a fault', silent).rejects.toThrow(Violation);
  });
});
