import { suite } from '../harness/check/check.ts';
import { disclosure } from './status-codes/disclosure.ts';
import { documentedAnswer } from './status-codes/documented-answer.ts';
import { methods } from './status-codes/methods.ts';
import { robustness } from './status-codes/robustness.ts';

export const statusCodes = suite('status-codes', 'Status codes', [
  ...documentedAnswer,
  ...methods,
  ...robustness,
  ...disclosure,
]);
