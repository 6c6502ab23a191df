import { SCHEMES } from '../../../config/credential/schemes.ts';
import type { HttpAnswer } from '../../http/answer.ts';
import { onAnswer, type Patch } from './patch.ts';

/** The setting of the proof in which the service issues its tokens. */
export const ISSUING = SCHEMES.find(({ trials }) => trials)?.proof.setting ?? '';

/** Changes the answers of the token endpoint that have a token, or those that refuse one. */
export const onIssue = (change: (answer: HttpAnswer) => HttpAnswer): Patch =>
  onAnswer('key-lent', (answer) => (answer.status === 200 ? change(answer) : answer));

export const onTokenRefusal = (change: (answer: HttpAnswer) => HttpAnswer): Patch =>
  onAnswer('key-lent', (answer) => (answer.status === 200 ? answer : change(answer)));
