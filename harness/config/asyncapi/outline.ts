import { UsageError } from '../../base/exit.ts';
import { hasMembers } from '../../base/json-text.ts';
import { visible } from '../../wire/octets/utf8.ts';
import type { SourceFiles } from '../document/files.ts';
import type { Remarks } from '../document/remarks.ts';
import { child, children, type DocumentNode, faultAt, refOf } from '../document/source.ts';

/** 2: its operations are those of a client, `publish` and `subscribe`. 3: those of the application, `send` and `receive`. */
export type MajorVersion = 2 | 3;

/** @throws UsageError for other documents, and for an unsupported version. */
export function versionOf(root: DocumentNode): MajorVersion {
  const named = child(root, 'asyncapi');
  if (named.value === undefined)
    throw faultAt(root, 'is no AsyncAPI document', 'name a document with `asyncapi: 2.6.0`, 3.0.0 or 3.1.0');
  const text = String(named.value);
  const [, major] = /^(?:(2)\.[0-6]|(3)\.[01])(?:\.|$)/.exec(text)?.filter(Boolean) ?? [];
  if (major === undefined)
    throw faultAt(
      named,
      `version ${visible(text, 60)} is not read`,
      'write it in AsyncAPI 2.0 to 2.6, 3.0 or 3.1',
    );
  return major === '2' ? 2 : 3;
}

export interface FoundServer {
  readonly name: string;
  readonly at: DocumentNode;
  readonly protocol: string;
  /** null if it cannot be read. */
  readonly url: URL | null;
}

/** Servers with their variables filled in. */
export function serversOf(
  files: SourceFiles,
  version: MajorVersion,
  remarks: Remarks,
): readonly FoundServer[] {
  return children(child(files.root, 'servers')).flatMap(([name, given]) => {
    const read = remarks.attempt(() => files.dereferenced(given), 'the server is left out');
    if (read instanceof Error) return [];
    const text = (key: string) => filled(child(read, key).value, child(read, 'variables'), files);
    const protocol = text('protocol').toLowerCase();
    const written = version === 2 ? text('url') : `${text('host')}${text('pathname')}`;
    const url = URL.parse(written.includes('://') ? written : `${protocol}://${written}`);
    if (url === null)
      remarks.at(read, 'has no address that is a URL', 'its channels have their own path alone');
    return [{ name, at: read, protocol, url }];
  });
}

/** A text with the value of each `{variable}`: its default, else the first that it may have. */
function filled(written: unknown, variables: DocumentNode, files: SourceFiles): string {
  if (typeof written !== 'string') return '';
  return written.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const given = child(variables, name);
    const value = given.value === undefined ? undefined : shownIn(files.dereferenced(given));
    return value === undefined ? whole : String(value);
  });
}

/** The first value that a variable, a parameter or a schema shows; undefined for none. */
export function shownIn(at: DocumentNode): unknown {
  const shown = [
    child(at, 'const'),
    child(at, 'default'),
    child(at, 'example'),
    ...children(child(at, 'examples')).map(([, each]) => each),
    ...children(child(at, 'enum')).map(([, each]) => each),
  ];
  return shown.find(({ value }) => value !== undefined && value !== null && !hasMembers(value))?.value;
}

export interface FoundChannel {
  readonly name: string;
  readonly at: DocumentNode;
  /** null if the document leaves it open. */
  readonly address: string | null;
  /** Names of its servers; null for all. */
  readonly servers: readonly string[] | null;
}

export interface ChannelOperation {
  readonly id: string;
  readonly at: DocumentNode;
  /** Of a client. */
  readonly action: 'send' | 'receive';
  readonly channel: FoundChannel;
  readonly messages: readonly DocumentNode[];
  /** null where no reply is documented. */
  readonly reply: FoundReply | null;
}

interface FoundReply {
  readonly messages: readonly DocumentNode[];
  readonly channel: FoundChannel;
  /** It goes to an address that the request names. */
  readonly isElsewhere: boolean;
}

const MOST_CHANNELS = 500;
const MOST_OPERATIONS = 2_000;

/** Channels and operations of either version. */
export class Outline {
  readonly channels: readonly FoundChannel[];
  readonly operations: readonly ChannelOperation[];
  readonly #files: SourceFiles;
  readonly #remarks: Remarks;
  /** The application of the document is a client of the service. */
  readonly #isClient: boolean;

  constructor(files: SourceFiles, version: MajorVersion, remarks: Remarks, isClient: boolean) {
    this.#files = files;
    this.#remarks = remarks;
    this.#isClient = isClient;
    const given = children(child(files.root, 'channels')).filter(([name]) => !name.startsWith('x-'));
    this.channels = given.slice(0, MOST_CHANNELS).flatMap(([name, at]) => {
      const read = remarks.attempt(() => this.#channel(name, at, version), `the channel ${name} is left out`);
      return read instanceof Error ? [] : [read];
    });
    if (given.length > MOST_CHANNELS)
      remarks.at(child(files.root, 'channels'), `are more than ${MOST_CHANNELS}`, 'the rest is left out');
    const found = version === 2 ? this.#ofChannels() : this.#ofRoot();
    this.operations = withOwnIds(found.slice(0, MOST_OPERATIONS));
  }

  /** The messages that a channel holds, whatever the operations say. */
  messagesOf({ at }: FoundChannel): readonly DocumentNode[] {
    return children(child(at, 'messages')).map(([, each]) => each);
  }

  #channel(name: string, given: DocumentNode, version: MajorVersion): FoundChannel {
    const at = this.#files.dereferenced(given);
    const { value } = child(at, 'address');
    const address = version === 2 ? name : typeof value === 'string' ? value : null;
    const servers = children(child(at, 'servers')).map(([, each]) =>
      typeof each.value === 'string' ? each.value : (refOf(each.value)?.split('/').at(-1) ?? ''),
    );
    return { name, at, address, servers: servers.length === 0 ? null : servers };
  }

  #ofChannels(): readonly ChannelOperation[] {
    return this.channels.flatMap((channel) =>
      (['publish', 'subscribe'] as const).flatMap((word) => {
        const given = child(channel.at, word);
        if (given.value === undefined) return [];
        return this.#attempt(given, `${channel.name} ${word}`, (at, id) => {
          const message = child(at, 'message');
          const named = child(at, 'x-response');
          const sends = (word === 'publish') !== this.#isClient;
          return {
            ...{ id, at, channel, action: sends ? 'send' : 'receive' },
            messages: message.value === undefined ? [] : this.#alternatives(message),
            reply:
              named.value === undefined
                ? null
                : { channel, isElsewhere: false, messages: this.#alternatives(named) },
          };
        });
      }),
    );
  }

  #ofRoot(): readonly ChannelOperation[] {
    const given = children(child(this.#files.root, 'operations'));
    return given.flatMap(([name, operation]) =>
      this.#attempt(operation, name, (at, id) => {
        const channel = this.#channelAt(child(at, 'channel'));
        const sends = (child(at, 'action').value === 'receive') !== this.#isClient;
        return {
          ...{ id, at, channel, action: sends ? 'send' : 'receive' },
          messages: this.#messagesIn(at, channel),
          reply: this.#replyOf(child(at, 'reply'), channel),
        };
      }),
    );
  }

  #attempt(
    given: DocumentNode,
    id: string,
    read: (at: DocumentNode, id: string) => ChannelOperation,
  ): readonly ChannelOperation[] {
    const found = this.#remarks.attempt(() => {
      const at = withTraits(this.#files.dereferenced(given), this.#files);
      const own = child(at, 'operationId').value;
      return read(at, typeof own === 'string' && own !== '' ? own : id);
    }, `the operation ${id} is left out`);
    return found instanceof Error ? [] : [found];
  }

  #replyOf(given: DocumentNode, own: FoundChannel): FoundReply | null {
    if (given.value === undefined) return null;
    const at = this.#files.dereferenced(given);
    const named = child(at, 'channel');
    const channel = named.value === undefined ? own : this.#channelAt(named);
    const isElsewhere = child(at, 'address').value !== undefined && channel.address === null;
    return { channel, isElsewhere, messages: this.#messagesIn(at, channel) };
  }

  /** Those that it names; all of its channel where it names none. */
  #messagesIn(at: DocumentNode, channel: FoundChannel): readonly DocumentNode[] {
    const named = child(at, 'messages');
    return named.value === undefined ? this.messagesOf(channel) : children(named).map(([, each]) => each);
  }

  #channelAt(named: DocumentNode): FoundChannel {
    const at = this.#files.dereferenced(named);
    const found = this.channels.find(
      (each) => each.at.file === at.file && each.at.pointer.join('/') === at.pointer.join('/'),
    );
    if (found !== undefined) return found;
    throw faultAt(named, 'is no channel of the document', 'refer to #/channels/…');
  }

  /** One that cannot be followed stays: the fault is remarked on where it is read. */
  #alternatives(given: DocumentNode): readonly DocumentNode[] {
    let several = child(given, 'oneOf');
    try {
      several = child(this.#files.dereferenced(given), 'oneOf');
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
    return several.value === undefined ? [given] : children(several).map(([, each]) => each);
  }
}

/** An operation or a message with what its traits add; its own word goes. */
export function withTraits(at: DocumentNode, files: SourceFiles): DocumentNode {
  const traits = children(child(at, 'traits')).map(([, given]) => files.dereferenced(given));
  if (traits.length === 0) return at;
  return { ...at, parts: new Map([...traits, at].flatMap((each) => children(each))) };
}

function withOwnIds(found: readonly ChannelOperation[]): readonly ChannelOperation[] {
  const taken = new Set<string>();
  return found.map((each) => {
    let id = each.id;
    for (let copy = 2; taken.has(id); copy += 1) id = `${each.id} ${copy}`;
    taken.add(id);
    return { ...each, id };
  });
}
