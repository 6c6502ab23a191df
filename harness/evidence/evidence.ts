import type { Burst } from './burst.ts';
import type { Conversation } from './conversation.ts';
import type { Exchange } from './exchange.ts';

export type Evidence = Exchange | Conversation | Burst;
