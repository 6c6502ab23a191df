import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findingText } from '../../../harness/base/finding.ts';
import {
  type DiagnosedCheck,
  diagnose,
  dictionary,
  isFinding,
} from '../../../harness/report/diagnosis/diagnose.ts';
import { signatureBefore } from '../../../harness/report/diagnosis/form.ts';
import type { JournalEvent } from '../../../harness/report/results/fold/events.ts';
import { findingIn } from '../../../harness/report/results/read-results.ts';
import { ARCHIVE, alterations, verdictsOf, verdictsToday } from '../fixtures/archive.ts';

/** A finding says what its message said, and an entry of a list that was made of the message still means it. */
function isListedAsBefore(event: JournalEvent): void {
  if (event.type !== 'outcome' || event.finding === undefined) return;
  const { finding, message, service, decisive = null } = event;
  const read = findingIn(message, service, decisive);
  expect(findingText(finding)).toBe(findingText(read));
  expect(signatureBefore(finding)).toEqual(signatureBefore(read));
}

/**
 * Runs that were recorded, judged again: a check that says something else of them than before is changed on purpose, or
 * by mistake. `npm run rejudge -- --update` keeps what they say now.
 */
describe('what the checks say of recorded runs is what they said before', () => {
  it.for(ARCHIVE)('of $name', async (kept) => {
    const outcomes: DiagnosedCheck[] = [];
    const now = await verdictsToday(kept, {
      hear(event) {
        isListedAsBefore(event);
        if (event.type === 'outcome') outcomes.push(event);
      },
    });
    const file = verdictsOf(kept);
    const before = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    for (const each of alterations(before, now)) process.stdout.write(`${kept.name}: ${each}\n`);
    await expect(`${now.join('\n')}\n`).toMatchFileSnapshot(file);
    // Those of others do what their authors meant them to: nothing that the dictionary has.
    if (kept.folder === 'servers') {
      expect(outcomes.some(isFinding)).toBe(true);
      expect(diagnose(outcomes, dictionary()).map(({ sentence }) => sentence)).toEqual([]);
    }
  });
});

it('each verdict that is altered is told, those that come and go as well', () => {
  expect(
    alterations(
      ['a.one: pass', 'a.two: fail · got 1 [x]', 'a.three: pass', 'k = 1'],
      ['a.one: pass', 'a.two: pass', 'a.four: pass', 'k = 2'],
    ),
  ).toEqual([
    'a.two: fail · got 1 [x] → pass',
    'a.three: pass → nothing',
    'k = 1 → = 2',
    'a.four: nothing → pass',
  ]);
});
