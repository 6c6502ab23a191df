import { suite } from '../../harness/engine/check/suite.ts';
import { documentedAnswer } from './documented-answer.ts';
import { methods } from './methods.ts';
import { robustness } from './robustness.ts';

export const status = suite('status', 'Status codes', [...documentedAnswer, ...methods, ...robustness]);
