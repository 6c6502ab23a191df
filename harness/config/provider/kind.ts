import type { TSchema } from 'typebox';
import type { Secret, SecretText } from '../../base/secret.ts';
import type { Draft } from '../draft/draft.ts';
import { either, FINAL_STATUS, type Keys, type Mapping, mapping, text, whole } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import type { FaultAt } from '../yaml/origin.ts';

/** What a config can say of the providers of one kind. How they come to be there: `harness/engine/provider/start.ts`. */
export interface ProviderKind<N extends string, K extends Readonly<Record<N, TSchema>>, P> {
  /** The key that names the kind, and those that belong to it alone. */
  readonly keys: K;
  /** `said` stands at the key that names the kind. @throws UsageError for what cannot be meant. */
  readonly build: (said: Loaded<K[N]>, draft: Draft, written: Loaded<Mapping<K & Keys>>) => P | Promise<P>;
  /** Whether everything sent there stays on this machine, so that example secrets may stand in the file. */
  readonly staysHere: (provider: P) => boolean;
  /** Where it runs already: a URL, or the path of a socket; null for one that is started for the run. */
  readonly addressOf: (provider: P) => string | null;
  /** It is part of the harness: it may be asked anything, can live by the clock of who asks, and is known to tell its quota. */
  readonly isBuiltIn?: true;
}

export function providerKind<
  const N extends string,
  K extends Readonly<Record<N, TSchema>>,
  P extends { readonly kind: N },
>(_name: N, kind: ProviderKind<N, K, P>): ProviderKind<N, K, P> {
  return kind;
}

const TIMES = { minimum: 1, maximum: 1_000, expected: 'a whole number, at least 1' };
const HEALTH = 'The HEALTHCHECK of its image succeeds. Containers only.';
export const READY = mapping(
  'How to know that it is ready: exactly one of http, log and health. Without it, a provider is ready when it answers any request, and a companion when the health check of its image succeeds, if it has one.',
  { expected: 'a mapping such as { http: /healthz }', nullable: true, def: 'ready', replaces: () => true },
  {
    http: text('Path below the base URL that answers a GET with 2xx.', {
      expected: 'a path such as /healthz',
      read: (path, fault) => {
        if (/^\/[\x21-\x7e]*$/.test(path) && !path.startsWith('//') && !path.includes('#')) return path;
        throw fault('is not a path', 'write a path that begins with one slash, such as /healthz');
      },
    }),
    status: whole('The status that it must answer with, in place of any 2xx.', FINAL_STATUS),
    log: text('Text in a line that it writes.'),
    times: whole('Number of such lines. Default: 1.', TIMES),
    health: either<true>(HEALTH, { expected: 'true' }, { const: true }),
  },
);

/** @throws UsageError when not exactly one way is named, or a path is none. */
export function buildReadiness(
  faultAt: FaultAt,
  key: string,
  block: Loaded<typeof READY> | undefined,
): Readiness | null {
  if (!block) return null;
  const { http, status, log, times, health } = block;
  const ways = Object.entries({ http, log, health }).flatMap(([way, value]) =>
    value === undefined ? [] : way,
  );
  if (ways.length === 0)
    throw faultAt(key, 'says neither http nor log nor health', 'add one, such as `http: /healthz`');
  if (ways.length > 1) throw faultAt(key, `names ${ways.join(' and ')}`, 'keep one of them');
  if (status !== undefined && http === undefined)
    throw faultAt(`${key}.status`, 'belongs to http', 'remove it');
  if (times !== undefined && log === undefined) throw faultAt(`${key}.times`, 'belongs to log', 'remove it');
  if (http !== undefined) return { kind: 'http', path: http, status: status ?? null };
  if (log !== undefined) return { kind: 'log', text: log, times: times ?? 1 };
  return { kind: 'health' };
}

/** Of providers that are started: paths are absolute, durations milliseconds, sizes bytes. */

export type Readiness =
  /** A GET below the base address is answered with this status; null: with any 2xx. */
  | { readonly kind: 'http'; readonly path: string; readonly status: number | null }
  /** It has written this number of lines with the text. */
  | { readonly kind: 'log'; readonly text: string; readonly times: number }
  | { readonly kind: 'health' };

export type ImageSource =
  | { readonly kind: 'image'; readonly name: string }
  | {
      readonly kind: 'build';
      readonly context: string;
      readonly dockerfile: string;
      readonly target: string | null;
      readonly args: Readonly<Record<string, string>>;
    };

/** What the provider's container and its companions have in common. */
export interface ContainerConfig {
  readonly image: ImageSource;
  readonly env: Readonly<Record<string, SecretText>>;
  /** Path in the container to its content; readable by every user there, seen by no `inspect`. */
  readonly secrets: Readonly<Record<string, Secret>>;
  readonly files: Readonly<Record<string, string>>;
  readonly command: readonly string[] | null;
  readonly ready: Readiness | null;
  /** From its start until it must be ready. */
  readonly timeoutMs: number;
  readonly limits: { readonly memoryBytes: number | null; readonly cpus: number | null };
  readonly capabilities: readonly string[];
}

export interface ContainerProvider extends ContainerConfig {
  readonly kind: 'container';
  readonly port: number;
  /** Of the service below its host; '' when it is the root. */
  readonly path: string;
  readonly aliases: readonly string[];
  /** Ready before the provider starts, one after the other. */
  readonly companions: readonly Companion[];
  readonly freshForEachSuite: boolean;
}

/** A container that the provider needs, on a network with it. */
export interface Companion extends ContainerConfig {
  readonly name: string;
  /** Needed for readiness by HTTP only. */
  readonly port: number | null;
}

export interface CommandProvider {
  readonly kind: 'command';
  readonly run: readonly string[] | string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, SecretText>>;
  /** Base address; `${PORT}` in it, in `run` and in `env` stands for a free port. */
  readonly url: string;
  readonly ready: Exclude<Readiness, { kind: 'health' }> | null;
  /** From its start until it must be ready. */
  readonly timeoutMs: number;
  readonly freshForEachSuite: boolean;
}

/** Stands for the free port that is found when the command is started. */
export const PORT_PLACEHOLDER = '$' + '{PORT}';
