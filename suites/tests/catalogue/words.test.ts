import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { firstGot, headlineOf } from '../../../harness/base/finding.ts';
import { MESSAGES } from '../../../harness/proof/messages.ts';
import { findingIn } from '../../../harness/report/results/read-results.ts';
import { suites } from '../../catalogue.ts';

const checks = suites.flatMap((suite) => suite.checks);
const judging = checks.filter(({ observes }) => !observes);

/** In UTF-16 units. */
const LONGEST_HEADLINE = 90;
const LONGEST_SENTENCE = 200;
/** With the value in it. */
const LONGEST_FILLED = 260;

/** Words of the standards and of this house, and old ones; the reader says header, byte, body, response, on. */
const JARGON =
  /\b(?:octets?|fields?|representations?|entity tags?|content codings?|media ranges?|upon|whilst|orderly|good order|inflate|stimul\w+|probes?|harness|violat\w+|idempoten(?!cy-Key)\w+)\b/i;

const PLACES = /\{(?:answer|got)\}/g;

describe('what a check says of itself', () => {
  it.each(checks)(
    '$id: is short, plain and about this check',
    ({ title, headline, why, change, observes }) => {
      for (const said of [title, headline, why, change]) expect(said ?? '').not.toMatch(JARGON);
      for (const sentences of observes ? [why] : [why, change ?? '']) {
        expect(sentences).toMatch(/^[A-Z"]?\S[^\n]*\.$/);
        expect(sentences.length).toBeLessThanOrEqual(LONGEST_SENTENCE);
        expect(sentences.match(/[.!?](?= [A-Z])/g)?.length ?? 0).toBeLessThan(2);
        expect(sentences).not.toMatch(/[{}]/);
      }
      if (observes) return;
      expect(headline).toMatch(/^\S[^\n]*[^.\s]$/);
      expect(headline?.length).toBeLessThanOrEqual(LONGEST_HEADLINE);
      expect(headline?.match(PLACES)?.length ?? 0).toBeLessThan(2);
      expect(headline?.replace(PLACES, '')).not.toMatch(/[{}]/);
    },
  );

  it('has a headline that no other check has', () => {
    const headlines = judging.map(({ headline }) => headline);
    expect(headlines.filter((each, at) => headlines.indexOf(each) !== at)).toEqual([]);
  });

  it('has a headline for what the proof has seen of it', () => {
    for (const line of readFileSync(MESSAGES, 'utf8').trim().split('\n')) {
      const [, id = '', message = ''] = /^(\S+) \S+ \w+: (.*)$/.exec(line) ?? [];
      const { headline = '' } = judging.find((each) => each.id === id) ?? {};
      const finding = findingIn(message, 'a service', null);
      const filled = headlineOf(headline, finding);
      expect(filled.length, filled).toBeLessThanOrEqual(LONGEST_FILLED);
      if (headline.match(PLACES)) expect(finding.expected && firstGot(finding), line).toBeTruthy();
      expect(filled).not.toMatch(PLACES);
    }
  });
});
