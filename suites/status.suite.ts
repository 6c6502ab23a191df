import { suite } from '../harness/check/check.ts';
import { disclosure } from './status/disclosure.ts';
import { documentedAnswer } from './status/documented-answer.ts';
import { methods } from './status/methods.ts';
import { robustness } from './status/robustness.ts';

export const status = suite('status', 'Status codes', [
  ...documentedAnswer,
  ...methods,
  ...robustness,
  ...disclosure,
]);
