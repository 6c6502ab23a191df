import {
  type CheckDefinition,
  type ConversationView,
  check,
  clause,
  echoes,
  type Ground,
  type Probe,
} from '../../harness/engine/check/suite.ts';
import type { Row } from '../row.ts';

type Conversations = Probe<ConversationView> | Probe<readonly ConversationView[]>;

interface BadFrame extends Row<'restsOn'> {
  /** Completes "closes the connection after …" and "The connection goes on after …". */
  readonly after: string;
  readonly grounds: readonly Ground[];
  readonly probe: Conversations;
}

/** The connection ends after something like that, with whatever code or with none. */
export function ends({ id, after, probe, ...options }: BadFrame): CheckDefinition {
  return check(id, {
    ...options,
    title: `closes the connection after ${after}`,
    headline: `The connection goes on after ${after}`,
    waits: [probe],
    uses: [probe],
    judge: ({ expect }) => expect().toEnd(),
  });
}

interface Echoed extends Row<'restsOn'> {
  /** Completes "sends back …" and "The service does not send back …". */
  readonly what: string;
  readonly ground: Ground;
  readonly probe: Conversations;
}

/** What an echo endpoint takes comes back as it was. */
export function sendsBack({ id, what, ground, probe, ...notes }: Echoed): CheckDefinition {
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
