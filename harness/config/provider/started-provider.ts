import type { Secret, SecretText } from '../../base/secret.ts';

/**
 * Providers that are started for a run and ended after it. Paths are absolute, durations milliseconds, sizes bytes.
 */

/** How it is known that a provider can be asked. */
export type Readiness =
  /** A GET below the base address is answered with this status; null: with any 2xx. */
  | { readonly kind: 'http'; readonly path: string; readonly status: number | null }
  /** It has written so many lines that hold this text. */
  | { readonly kind: 'log'; readonly text: string; readonly times: number }
  /** The health check of its image succeeds. Containers only. */
  | { readonly kind: 'health' };

export type ImageSource =
  | { readonly kind: 'image'; readonly name: string }
  | {
      readonly kind: 'build';
      /** Folder. */
      readonly context: string;
      /** Below the context. */
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
  /** Path in the container to a file of this machine. */
  readonly files: Readonly<Record<string, string>>;
  /** In place of the image's own. */
  readonly command: readonly string[] | null;
  readonly ready: Readiness | null;
  /** From its start until it must be ready. */
  readonly timeoutMs: number;
  readonly limits: { readonly memoryBytes: number | null; readonly cpus: number | null };
  /** The only ones that it keeps. */
  readonly capabilities: readonly string[];
}

export interface ContainerProvider extends ContainerConfig {
  readonly kind: 'container';
  /** On which the service listens inside. */
  readonly port: number;
  /** Of the service below its host; '' when it is the root. */
  readonly path: string;
  /** Names by which companions reach it. */
  readonly aliases: readonly string[];
  /** Ready before the provider starts, one after the other. */
  readonly companions: readonly Companion[];
  readonly freshForEachSuite: boolean;
}

/** A container that the provider needs, on a network with it. */
export interface Companion extends ContainerConfig {
  /** The name by which the provider reaches it. */
  readonly name: string;
  /** Needed for readiness by HTTP only. */
  readonly port: number | null;
}

export interface CommandProvider {
  readonly kind: 'command';
  /** A program and its arguments, or a line for the shell. */
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
