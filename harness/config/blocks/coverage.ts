import { mapping, whole } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';

const PERCENT = { minimum: 0, maximum: 100, expected: 'a whole number from 0 to 100' };

export const COVERAGE_FLOOR = mapping(
  'How much of the OpenAPI document a run must exercise, in percent. A run that exercises less fails.',
  { expected: 'a mapping such as { operations: 100, responses: 60 }', nullable: true },
  {
    operations: whole('Of the operations, those that are called.', PERCENT),
    responses: whole('Of the documented responses of all operations, those that are seen.', PERCENT),
  },
);

export type CoverageFloor = Loaded<typeof COVERAGE_FLOOR>;
