import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import { type SecretProfile, standInFor } from '../credential/stand-in.ts';
import type { Fault } from '../shape/loaded.ts';
import { nearestNames } from '../yaml/nearest.ts';
import { readText } from '../yaml/read-text.ts';
import { commandOutput } from './command-output.ts';

/** `${env:NAME}`, `${env:NAME:-default}`, `${file:PATH}`, `${exec:COMMAND}`. */
export type Reference =
  | { readonly kind: 'env'; readonly name: string; readonly fallback: string | null }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'exec'; readonly command: string };

export interface ReferenceScope {
  readonly env: NodeJS.ProcessEnv;
  /** Folder of the file that names them; relative paths and commands start here. */
  readonly folder: string;
  readonly execTimeoutMs: number;
  /** What may stand in for secrets, where a record is judged; nothing where a service is exercised. */
  readonly standIns?: StandIns | undefined;
}

/** The secrets that existed at recording; null if unknown. */
export type StandIns = { readonly forms: readonly SecretProfile[] | null };

const KINDS = ['env', 'file', 'exec'];
const MAX_BYTES = 64 * 1024;
const ENV = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/** Splits a text at its references. A brace inside one must be closed inside it: `${exec:awk '{print $1}' key}`. */
export function splitReferences(text: string, fault: Fault): readonly (string | Reference)[] {
  const parts: (string | Reference)[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf('${', at);
    if (start === -1) break;
    if (start > at) parts.push(text.slice(at, start));
    const end = closingBrace(text, start + 2);
    if (end === -1) throw fault('a reference is not closed', 'end it with }');
    parts.push(parseReference(text.slice(start + 2, end), fault));
    at = end + 1;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '{') open += 1;
    if (text[at] === '}') open -= 1;
    if (open === 0) return at;
  }
  return -1;
}

function parseReference(inner: string, fault: Fault): Reference {
  const colon = inner.indexOf(':');
  const kind = colon === -1 ? inner : inner.slice(0, colon);
  const rest = colon === -1 ? '' : inner.slice(colon + 1);
  if (!KINDS.includes(kind)) {
    const hint = nearestNames(kind, KINDS)[0];
    const meant = hint === undefined ? `\${env:NAME}, \${file:PATH} or \${exec:COMMAND}` : `\${${hint}:…}`;
    throw fault('a reference of an unknown kind', `write ${meant}`);
  }
  if (rest.trim() === '') throw fault(`the reference to ${kind} names nothing`, `write \${${kind}:…}`);
  if (kind === 'file') return { kind, path: rest.trim() };
  if (kind === 'exec') return { kind, command: rest };
  const [, name, fallback] = ENV.exec(rest) ?? [];
  if (name === undefined) {
    const problem = 'this cannot be the name of an environment variable';
    throw fault(problem, `write \${env:NAME} or \${env:NAME:-default}`);
  }
  if (fallback?.includes('${'))
    throw fault('a default cannot hold another reference', 'write the default as plain text');
  return { kind: 'env', name, fallback: fallback ?? null };
}

/** `env SEARCH_API_KEY (default)`, `file key.txt`, `exec`: never the command, which could hold a secret. */
export function describeReference(reference: Reference, fromFallback = false): string {
  if (reference.kind === 'env') return `env ${reference.name}${fromFallback ? ' (default)' : ''}`;
  return reference.kind === 'file' ? `file ${reference.path}` : 'exec';
}

/** The environment variable where there is one, else made of the place: `SEARCH_SECOND_KEY`, `SEARCH_RUN_SECRETS_API_KEY`. */
export function secretName(of: { service: string }, key: string, reference: Reference | null): string {
  if (reference?.kind === 'env') return reference.name;
  const place = key
    .replace(/^credentials\.|^provider\.(?:container|command)\.(?:companions\.)?/, '')
    .replace(/^(?:env|secrets)\./, '');
  return `${of.service}_${place}`
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();
}

export interface Resolved {
  readonly text: string;
  /** The variable was not set (or empty) and the default of the reference stands in. */
  readonly fromFallback: boolean;
}

/** Reads what a reference such as `${env:NAME}` stands for. @throws what `fault` makes when there is nothing to read. */
export async function resolveReference(
  reference: Reference,
  scope: ReferenceScope,
  fault: Fault,
): Promise<Resolved> {
  if (reference.kind === 'env') return fromEnvironment(reference, scope, fault);
  const { kind } = reference;
  const text = await (kind === 'file'
    ? fromFile(reference.path, scope, fault)
    : fromCommand(reference.command, scope, fault));
  return { text, fromFallback: false };
}

interface SecretLabel {
  readonly name: string;
  /** The value to use if it names nothing and no record knows it; null for none. */
  readonly otherwise: string | null;
}

/** The resolved text, or its placeholder when a record is judged: no command is run then. */
export async function resolveOrStandIn(
  reference: Reference,
  scope: ReferenceScope,
  fault: Fault,
  { name, otherwise }: SecretLabel,
): Promise<Resolved> {
  const { standIns } = scope;
  if (standIns === undefined) return resolveReference(reference, scope, fault);
  const known = standIns.forms?.find((form) => form.name === name);
  if (known !== undefined) return { text: standInFor(known), fromFallback: false };
  try {
    return await resolveReference(reference, scope, fault);
  } catch (error) {
    if (!(error instanceof UsageError) || otherwise === null) throw error;
    return { text: otherwise, fromFallback: false };
  }
}

/** The value of a reference that was read, not of its default. */
export interface Learned {
  readonly reference: Reference;
  readonly value: string;
}

export interface InterpolatedText {
  readonly text: string;
  readonly references: readonly string[];
  readonly learned: readonly Learned[];
}

/** A text with every reference in it replaced, but for `kept`, such as `${PORT}`, which is none. */
export async function interpolate(
  text: string,
  scope: ReferenceScope,
  fault: Fault,
  kept: string | undefined,
  namedAs: (reference: Reference) => SecretLabel,
): Promise<InterpolatedText> {
  const references: string[] = [];
  const learned: Learned[] = [];
  const pieces: string[] = [];
  for (const piece of kept === undefined ? [text] : text.split(kept)) {
    let whole = '';
    for (const part of splitReferences(piece, fault)) {
      if (typeof part === 'string') {
        whole += part;
        continue;
      }
      const resolved = await resolveOrStandIn(part, scope, fault, namedAs(part));
      whole += resolved.text;
      if (!resolved.fromFallback) learned.push({ reference: part, value: resolved.text });
      references.push(describeReference(part, resolved.fromFallback));
    }
    pieces.push(whole);
  }
  return { text: pieces.join(kept), references, learned };
}

/** @throws what `fault` makes when a text names a variable that is not set, and no default for it. */
export function holdVariables(text: string, scope: ReferenceScope, fault: Fault): void {
  if (scope.standIns !== undefined) return;
  for (const part of splitReferences(text, fault)) {
    if (typeof part === 'object' && part.kind === 'env') fromEnvironment(part, scope, fault);
  }
}

function fromEnvironment(
  { name, fallback }: Extract<Reference, { kind: 'env' }>,
  { env }: ReferenceScope,
  fault: Fault,
): Resolved {
  // `constructor` is no variable, although every object has it.
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined && value !== '') return { text: value, fromFallback: false };
  if (fallback !== null) return { text: fallback, fromFallback: true };
  const near = value === undefined ? nearestNames(name, Object.keys(env)) : [];
  const hint = near.length > 0 ? ` (${near.join(', ')} is set)` : '';
  const state = value === undefined ? 'not set' : 'empty';
  throw fault(`the environment variable ${name} is ${state}`, `export ${name}=…${hint}`);
}

async function fromFile(path: string, { folder }: ReferenceScope, fault: Fault): Promise<string> {
  const read = await readText(resolve(folder, path), MAX_BYTES);
  if ('fault' in read) throw fault(`the file ${path}: ${read.fault.problem}`, read.fault.remedy);
  const text = read.text.replace(/^\uFEFF/, '').replace(/(\r?\n)+$/, '');
  if (text === '') throw fault(`the file ${path} is empty`, 'write the value into it');
  return text;
}

async function fromCommand(command: string, scope: ReferenceScope, fault: Fault): Promise<string> {
  const limits = { timeoutMs: scope.execTimeoutMs, maxBytes: MAX_BYTES };
  const output = await commandOutput(command, { cwd: scope.folder, env: scope.env }, limits);
  const failed = (how: string) => {
    const remedy = 'run it by hand in the folder of this file; it must print the value and nothing else';
    return fault(`the command of \${exec:…} ${how}`, remedy);
  };
  if ('failure' in output) throw failed(output.failure);
  if (!isUtf8(output.stdout)) throw failed('printed something that is not UTF-8');
  const text = output.stdout.toString('utf8').trim();
  if (text === '') throw failed('printed nothing');
  return text;
}
