import { UsageError } from '../../base/exit.ts';
import { isToken } from '../../wire/fields/grammar/field-grammar.ts';
import type { SourceFiles } from '../document/files.ts';
import type { Remarks } from '../document/remarks.ts';
import { child, children, type DocumentNode, type SourceFile } from '../document/source.ts';
import type { Configured } from '../operation/openapi/security.ts';
import type { DocumentedMessages, MessageEndpoint } from './documented-messages.ts';
import { type FoundChannel, type FoundServer, shownIn } from './outline.ts';

export interface AsyncApiOptions {
  readonly shown: string;
  readonly configured: Configured | undefined;
  /** Path of the provider's base address: '' or `/api`. */
  readonly basePath: string;
  /** Overlay documents, in the order in which they apply. */
  readonly overlays?: readonly SourceFile[];
  /** The document describes a client of the service, and not the service itself. */
  readonly isClient?: boolean;
  /** Values of parameters, by name. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

interface ServerContext {
  readonly servers: readonly FoundServer[];
  readonly speaking: readonly FoundServer[];
  readonly remarks: Remarks;
  readonly keyPlace: DocumentedMessages['keyPlace'];
}

type ChannelAddress =
  | Pick<MessageEndpoint, 'target' | 'fields'>
  /** `isOpen`: the document does not know it. */
  | { readonly unfit: string; readonly isOpen?: true };

/** Why a channel is left out whose address the document leaves open. */
export const UNKNOWN_ADDRESS = 'has no address that the document knows';

/** The addresses of channels: below that of their server, with their parameters filled in. */
export class Addresses {
  readonly #files: SourceFiles;
  readonly #around: ServerContext;
  readonly #options: AsyncApiOptions;

  constructor(files: SourceFiles, around: ServerContext, options: AsyncApiOptions) {
    this.#files = files;
    this.#around = around;
    this.#options = options;
  }

  of(channel: FoundChannel): ChannelAddress {
    const read = this.#around.remarks.attempt(() => this.#address(channel), 'its channel is left out');
    return read instanceof UsageError
      ? { unfit: `the document cannot be read there: ${read.problem}` }
      : read;
  }

  #address(channel: FoundChannel): ChannelAddress {
    const { servers, speaking } = this.#around;
    const own = servers.filter(({ name }) => channel.servers?.includes(name) ?? true);
    const server = speaking.find((each) => own.includes(each));
    if (servers.length > 0 && server === undefined) {
      const protocols = [...new Set(own.map(({ protocol }) => protocol))].join(', ') || 'an unknown protocol';
      return { unfit: `is served over ${protocols}, and not over a WebSocket` };
    }
    if (channel.address === null) return { unfit: UNKNOWN_ADDRESS, isOpen: true };
    const parameters = child(channel.at, 'parameters');
    let lacks: string | null = null;
    const path = channel.address.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
      const given = child(parameters, name);
      const value =
        given.value === undefined ? this.#given(name) : this.#valueOf(name, this.#files.dereferenced(given));
      if (value === undefined) lacks ??= `needs a value for {${name}}: give it in \`parameters\``;
      return encodeURIComponent(String(value ?? name));
    });
    if (lacks !== null) return { unfit: lacks };
    const binding = this.#files.dereferenced(
      child(this.#files.dereferenced(child(channel.at, 'bindings')), 'ws'),
    );
    const query = this.#required(child(binding, 'query'), 'query');
    const headers = this.#required(child(binding, 'headers'), 'header');
    if ('lacks' in query) return { unfit: query.lacks };
    if ('lacks' in headers) return { unfit: headers.lacks };
    const { value: method } = child(binding, 'method');
    if (method !== undefined && String(method).toUpperCase() !== 'GET')
      this.#around.remarks.at(
        child(binding, 'method'),
        'is no method of a handshake (RFC 6455 §4.1)',
        'GET is sent',
      );
    const whole = `${this.#prefixOf(server)}${path === '/' || path === '' ? '' : path.replace(/^(?!\/)/, '/')}`;
    const text = `${new URLSearchParams(Object.fromEntries(query.pairs))}`;
    const target = (whole || '/').replaceAll(/[^\x21-\x7e]/g, encodeURIComponent).replace(/#.*$/, '');
    const joined = text === '' ? target : `${target}${target.includes('?') ? '&' : '?'}${text}`;
    return { target: joined, fields: headers.pairs.filter(([name]) => isToken(name)) };
  }

  /** Unless the base address already ends with it. */
  #prefixOf(server: FoundServer | undefined): string {
    const prefix = (server?.url?.pathname ?? '').replace(/\/+$/, '');
    const base = this.#options.basePath.replace(/\/+$/, '');
    return prefix !== '' && base.endsWith(prefix) ? '' : prefix;
  }

  /** The members that a handshake must have, except for the key. */
  #required(
    given: DocumentNode,
    what: 'query' | 'header',
  ): { readonly pairs: readonly (readonly [string, string])[] } | { readonly lacks: string } {
    if (given.value === undefined) return { pairs: [] };
    const schema = this.#files.dereferenced(given);
    const required = children(child(schema, 'required')).map(([, { value }]) => value);
    const { keyPlace } = this.#around;
    const isKey = (name: string) =>
      (keyPlace?.in === what && keyPlace.name === name) ||
      this.#options.configured?.name === name ||
      this.#options.configured?.headers?.includes(name.toLowerCase()) ||
      (what === 'header' && /^(?:authorization|host|upgrade|connection|sec-websocket-\w+)$/i.test(name));
    const pairs: (readonly [string, string])[] = [];
    for (const [name, property] of children(child(schema, 'properties'))) {
      const at = this.#files.dereferenced(property);
      const isDemanded = required.includes(name) || child(at, 'const').value !== undefined;
      if (!isDemanded || isKey(name)) continue;
      const value = this.#valueOf(name, at);
      if (value === undefined)
        return { lacks: `needs a value for the ${what} ${name}: give it in \`parameters\`` };
      pairs.push([name, String(value)]);
    }
    return { pairs };
  }

  #valueOf(name: string, at: DocumentNode): unknown {
    const schema = child(at, 'schema');
    const shown =
      shownIn(at) ?? (schema.value === undefined ? undefined : shownIn(this.#files.dereferenced(schema)));
    return this.#given(name) ?? shown;
  }

  #given(name: string): unknown {
    const { parameters = {} } = this.#options;
    return Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  }
}
