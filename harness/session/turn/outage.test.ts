import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../evidence/exchange.ts';
import { exampleResponse } from '../../evidence/fixtures/example-evidence.ts';
import { OutageWatch } from './outage.ts';

const asked = (to: string, id: string) => ({ to: `GET ${to}`, id });

const ANSWERED: Pick<Exchange, 'response' | 'failure'> = { response: exampleResponse(), failure: null };

const failed = (kind: 'refused' | 'reset'): Pick<Exchange, 'response' | 'failure'> => ({
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
});
