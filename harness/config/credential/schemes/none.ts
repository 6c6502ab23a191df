import { scheme } from '../scheme.ts';

export const none = scheme({
  name: 'none',
  summary: 'no credential is needed',
  keys: {},
  open: true,
  use: () => ({}),
  opens: () => false,
  first: { asks: [], lines: () => [] },
  proof: {
    setting: 'open',
    words: 'credentials: { scheme: none }',
    conforming: ['search'],
    values: () => ({}),
  },
});
