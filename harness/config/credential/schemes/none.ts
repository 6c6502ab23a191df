import { scheme } from '../scheme.ts';

export const none = scheme({
  name: 'none',
  summary: 'anybody may call',
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
