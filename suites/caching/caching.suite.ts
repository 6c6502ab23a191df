import { getDocumented, given, suite } from '../../harness/engine/check/suite.ts';
import { accounts } from './accounts.ts';
import { conditions } from './conditions.ts';
import { ranges } from './ranges.ts';
import { validators } from './validators.ts';

/** Validators, conditional requests and ranges (RFC 9110 §8.8, §13 and §14, RFC 9111). */
export const caching = suite(
  'caching',
  'Caching and conditional requests',
  given([getDocumented], [...validators, ...conditions, ...ranges, ...accounts]),
);
