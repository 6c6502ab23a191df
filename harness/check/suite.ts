/**
 * What a suite is written with: this and the probes (`harness/probe/`) are all that it may import, so that users' own
 * suites can stand on the same surface.
 */
export { capitalized } from '../base/text/sentence.ts';
export {
  clause,
  type Ground,
  practice,
  quotaFieldsDraft,
  rfc,
  rfc3629,
  rfc6455,
  rfc6585,
  rfc7692,
  rfc8259,
  rfc9110,
  rfc9111,
  rfc9112,
  rfc9457,
} from '../contract/ground.ts';
export { SAFE_METHODS } from '../credential/request.ts';
export { isControl, OPCODE } from '../evidence/conversation/frame.ts';
export type { FrameRule } from '../evidence/conversation/frame-faults.ts';
export type { IdleView } from '../evidence/conversation/idle.ts';
export type { ConversationView } from '../evidence/conversation/view.ts';
export type { Reply } from '../evidence/exchange/reply.ts';
export type { JsonRemarkKind } from '../evidence/json/text.ts';
export type { Probe } from '../session/probe.ts';
export { type CheckDefinition, check, checkEach, given, observation, type Suite, suite } from './check.ts';
export type { CheckContext } from './context.ts';
export {
  AS_SENT,
  ENCODED,
  FRAMED,
  IN_CONTENT,
  IN_JSON,
  type Reading,
  SEARCHED,
  THROUGHOUT_JSON,
} from './reading.ts';
export * from './requirement.ts';
