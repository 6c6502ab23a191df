import { describe, expect, it } from 'vitest';
import { exampleExchange, exampleResponse } from '../fixtures/example-evidence.ts';
import { FRAMING_FAULT } from './framing-faults.ts';
import { Reply } from './reply.ts';

const reply = (framingFaults: readonly string[]) =>
  new Reply(exampleExchange({ response: exampleResponse({ framingFaults }) }));

describe('a fault of the framing', () => {
  it.each([
    ['length', FRAMING_FAULT.shortBody],
    ['chunks', FRAMING_FAULT.badChunkSize],
    ['no-content', FRAMING_FAULT.bodyOnHead],
    ['lines', FRAMING_FAULT.bytesAfterBody],
  ] as const)('is a matter of %s: %s', (matter, fault) => {
    const seen = reply([fault]);
    expect(
      (['length', 'chunks', 'no-content', 'lines'] as const).filter(
        (each) => seen.framingFault(each) !== null,
      ),
    ).toEqual([matter]);
    expect(seen.framingFault(matter)).toBe(fault);
  });

  it('is none where the transport cannot see it', () => {
    expect(reply([]).framingFault('lines')).toBeNull();
  });
});
