import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../wire/exchange.ts';
import { exampleResponse } from '../../../wire/fixtures/example-evidence.ts';
import { errorLine, failureKind } from '../../../wire/socket/failure.ts';
import { OutageWatch } from './outage.ts';

const asked = (to: string, id: string) => ({ to: `GET ${to}`, id });

const ANSWERED: Pick<Exchange, 'response' | 'failure'> = { response: exampleResponse(), failure: null };

const failed = (kind: 'refused' | 'reset' | 'closed'): Pick<Exchange, 'response' | 'failure'> => ({
  response: null,
  failure: { kind, message: `it was ${kind}` },
});

describe('a service that falls silent', () => {
  it('is told with the request that it did not answer, and after which nobody was there', () => {
    const watch = new OutageWatch();
    watch.saw(asked('as documented', 'e1'), ANSWERED);
    watch.saw(asked('with malformed percent-encoding', 'e2'), failed('reset'));
    expect(watch.reason).toBeNull();
    watch.saw(asked('as documented', 'e3'), failed('refused'));
    expect(watch.reason).toBe(
      'the provider cannot be reached: it was refused; it stopped answering after GET with malformed percent-encoding (e2)',
    );
  });

  it('is told with the last request that it answered, where nothing came between', () => {
    const watch = new OutageWatch();
    watch.saw(asked('with a hostile query', 'e1'), ANSWERED);
    watch.saw(asked('as documented', 'e2'), failed('refused'));
    expect(watch.reason).toContain('; it stopped answering after GET with a hostile query (e1)');
  });

  it('is told without one where it never answered', () => {
    const watch = new OutageWatch();
    watch.saw(asked('as documented', 'e1'), failed('refused'));
    expect(watch.reason).toBe('the provider cannot be reached: it was refused');
  });

  it('is not the reason where this machine has no open files left', () => {
    const watch = new OutageWatch();
    const error = Object.assign(new Error('connect EMFILE 127.0.0.1:80'), { code: 'EMFILE' });
    const failure = { kind: failureKind(error, 'refused'), message: errorLine(error) };
    for (const id of ['e1', 'e2', 'e3', 'e4', 'e5'])
      watch.saw(asked('as documented', id), { response: null, failure });
    expect(watch.reason).toBeNull();
    expect(failure).toEqual({
      kind: 'not-sent',
      message: expect.stringContaining('this machine allows conform no more open files: raise the limit'),
    });
  });

  it('hides what it was asked after that one, and not that one', () => {
    const watch = new OutageWatch();
    watch.saw(asked('as documented', 'e1'), ANSWERED);
    for (const id of ['e2', 'e3', 'e4', 'e5']) watch.saw(asked('with a hostile query', id), failed('reset'));
    expect(watch.since).toBe('e2');
    expect([['e1'], ['e2'], ['e1', 'e3'], ['e5']].map((ids) => watch.hides(ids))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('is not silent for what is wrong on purpose, which it may have died of all the same', () => {
    const watch = new OutageWatch();
    watch.saw(asked('as documented', 'e1'), ANSWERED);
    for (const id of ['e2', 'e3', 'e4', 'e5', 'e6'])
      watch.saw(asked('without a key', id), { ...failed('closed'), onPurpose: true });
    expect(watch.reason).toBeNull();
    watch.saw(asked('as documented', 'e7'), failed('refused'));
    expect(watch.reason).toContain('; it stopped answering after GET without a key (e2)');
  });
});
