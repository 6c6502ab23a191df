import {
  type CheckDefinition,
  type ConversationView,
  check,
  clause,
  echoes,
  type Ground,
  type Probe,
} from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';

export type Conversations = Probe<ConversationView> | Probe<readonly ConversationView[]>;

interface BadFrame extends RowNotes<'grounds' | 'restsOn'> {
  /** Completes "closes the connection after …" and "The connection goes on after …". */
  readonly after: string;
}

/** The connection ends after something like that, with whatever code or with none. */
export function ends(id: string, probe: Conversations, { after, ...notes }: BadFrame): CheckDefinition {
  return check(id, {
    ...notes,
    title: `closes the connection after ${after}`,
    headline: `The connection goes on after ${after}`,
    waits: [probe],
    uses: [probe],
    judge: ({ expect }) => expect().toEnd(),
  });
}

interface Echoed extends RowNotes<'restsOn'> {
  /** Completes "sends back …" and "The service does not send back …". */
  readonly what: string;
  readonly ground: Ground;
}

/** What an echo endpoint takes comes back as it was. */
export function sendsBack(
  id: string,
  probe: Conversations,
  { what, ground, ...notes }: Echoed,
): CheckDefinition {
  return check(id, {
    ...notes,
    title: `sends back ${what}`,
    headline: `The service does not send back ${what}: {got}`,
    grounds: [clause('websocket.messages'), ground],
    applies: [echoes],
    uses: [probe],
    judge: ({ expect }) => expect().toSendBack(),
  });
}
