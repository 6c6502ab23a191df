/** Suites import this and stimuli only, so that the suites of users can use the same surface. */

export {
  clause,
  clients,
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
} from '../../base/authority.ts';
export { capitalized, numberOf } from '../../base/text.ts';
export type { FrameRule } from '../../wire/conversation/frame.ts';
export { isControl, OPCODE } from '../../wire/conversation/frame.ts';
export type { IdleView } from '../../wire/conversation/idle.ts';
export type { ConversationView } from '../../wire/conversation/view.ts';
export type { Reply } from '../../wire/exchange/reply.ts';
export type { JsonRemarkKind } from '../../wire/json/text.ts';
export { SAFE_METHODS } from '../../wire/request.ts';
export type { Probe, Selected } from '../session/probe.ts';
export { type CheckDefinition, check, checkEach, given, observation, type Suite, suite } from './check.ts';
export type { CheckContext } from './context.ts';
export {
  AS_SENT,
  ENCODED,
  FRAMED,
  IN_CONTENT,
  IN_JSON,
  type ResponseReading,
  SEARCHED,
  THROUGHOUT,
  THROUGHOUT_JSON,
} from './hold.ts';
export * from './requirement.ts';
