import {
  type CheckDefinition,
  type ConversationView,
  check,
  clause,
  echoes,
  type Ground,
  type Probe,
} from '../../harness/check/suite.ts';

type Conversations = Probe<ConversationView> | Probe<readonly ConversationView[]>;

interface BadFrame {
  readonly id: string;
  /** Completes "ends the connection upon …". */
  readonly upon: string;
  readonly grounds: readonly Ground[];
  readonly probe: Conversations;
}

/** The connection ends upon something like that, with whatever code or with none. */
export function ends({ id, upon, grounds, probe }: BadFrame): CheckDefinition {
  return check(id, {
    title: `ends the connection upon ${upon}`,
    grounds,
    judge: ({ expect }) => expect(probe).toEnd(),
  });
}

interface Echoed {
  readonly id: string;
  /** Completes "sends back …". */
  readonly what: string;
  readonly ground: Ground;
  readonly probe: Conversations;
}

/** What an echo endpoint takes comes back as it was. */
export function sendsBack({ id, what, ground, probe }: Echoed): CheckDefinition {
  return check(id, {
    title: `sends back ${what}`,
    grounds: [clause('websocket.messages'), ground],
    applies: [echoes],
    judge: ({ expect }) => expect(probe).toSendBack(),
  });
}
