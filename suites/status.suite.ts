import { suite } from '../harness/check/suite.ts';
import { documentedAnswer } from './status/documented-answer.ts';
import { methods } from './status/methods.ts';
import { robustness } from './status/robustness.ts';

export const status = suite('status', 'Status codes', [...documentedAnswer, ...methods, ...robustness]);
