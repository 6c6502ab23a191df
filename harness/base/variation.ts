/**
 * How what is observed may differ from day to day without anything having changed: `never`; `order`, lists are sets;
 * `shape`, it is a shape, and what is optional may be missing; `upwards`, numbers are the least that was seen;
 * `downwards`, numbers are the most; `count`, numbers are some or none; `text`, texts are others.
 */
export const VARIATIONS = ['never', 'order', 'shape', 'upwards', 'downwards', 'count', 'text'] as const;
export type Variation = (typeof VARIATIONS)[number];
