/**
 * Every tolerance of the rate-limit measurement, in ms unless said otherwise, each with its reason. Nothing else in
 * the inference, the planner or the checks is lenient.
 */
export const TOLERANCE = {
  /** A limiter notes the moment by its own clock, which ticks and is scheduled apart from ours. */
  limiterClock: 20,
  /** After a promised moment, before the request that tries it: one tick of either clock and the way there. */
  afterPromise: 50,
  /** Retry-After, `t` and resets are whole seconds; rounding up makes them late by up to one. */
  wholeSeconds: 1_000,
  /** Of the window: what a store that keeps time in whole seconds may add to it, where that is less than a second. */
  expiryShare: 0.1,
  /** How many windows more than needed Retry-After may ask for. */
  generousWindows: 2,
  /** The same for short windows, in ms. */
  generous: 10_000,
  /** Date is cut to the second and may have been written up to a second before it was sent (cached by servers). */
  dateField: 1_000,
  /** A refusal costs less work than an answer: one that takes so much longer is held back on purpose. */
  tarpit: 1_000,
  /** Of the time per request at the documented rate: an answer that waits that long in a row is being paced. */
  pacedShare: 0.5,
  /** Of one slot (W/N): a bucket has surely refilled one request after it. */
  slotsToRefill: 1.5,
  /** Of the window: apart enough for two groups of requests to leave a sliding window at moments that can be told. */
  spreadShare: 0.1,
  /** The documented number more than the limit itself that is sent before it is called unmet. */
  patienceShare: 0.1,
  patience: 2,
  /** Of the plan: bounds of a limit that flows back further apart than this do not tell the documented number. */
  tellingShare: 0.1,
  /** The same for small plans, in requests: one that may have come back just before. */
  tellingLeast: 1,
} as const;
