import { scheme } from '../scheme.ts';

export const none = scheme({ name: 'none', summary: 'anybody may call', keys: {} });
