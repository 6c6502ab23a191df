import { readFileSync } from 'node:fs';
import type { WriteStream } from 'node:tty';
import { CommanderError } from 'commander';
import { EXIT, HarnessError, InconclusiveError, UsageError } from '../base/exit.ts';
import { codeOf, traceOf } from '../base/thrown.ts';
import { plainText } from '../report/results/words/plain.ts';
import { clearOpening } from '../report/terminal/opening.ts';
import { guard } from './ci/log-commands.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Name and version of this harness, for reports. */
export const HARNESS = { name: 'conform', version, node: process.version } as const;

/** Capabilities of a stream. Plain text where NO_COLOR is set or the stream is no terminal; FORCE_COLOR comes first. */
export function terminalOf(stream: Pick<WriteStream, 'isTTY'>): {
  readonly isTTY: boolean;
  readonly color: boolean;
} {
  const isTTY = stream.isTTY === true && process.env.TERM !== 'dumb';
  const refused = process.env.NO_COLOR !== undefined && process.env.NO_COLOR !== '';
  const forced = process.env.FORCE_COLOR;
  if (forced !== undefined && forced !== '') return { isTTY, color: !/^(?:0|false)$/.test(forced) };
  return { isTTY, color: isTTY && !refused };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls back once, at the first signal to end; the process then exits in its own time. */
export function onSignal(callback: () => void): { release(): void } {
  const release = () => {
    for (const name of SIGNALS) process.off(name, heard);
  };
  const heard = () => {
    release();
    callback();
  };
  for (const name of SIGNALS) process.on(name, heard);
  return { release };
}

/** Milliseconds after which the process exits even if handles are still open. */
const LINGER_MS = 2_000;

/**
 * Runs a command as the main program of the process. Any error ends here: one line on stderr and the exit code of its
 * class. Node's own code for an uncaught error is 1, which would mean that the service does
 * not conform.
 */
export async function conclude(command: () => Promise<number>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) guard(stream);
  process.stdout.on('error', onStreamError);
  // Progress goes there: losing it must not end a run, and there is no other place for the error.
  process.stderr.on('error', () => {});
  process.on('uncaughtException', (error) => process.exit(reportError(error)));
  process.exitCode = await exitCodeOf(command);
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** The exit code of a command, whether it returns or throws; an error is printed to stderr. */
export async function exitCodeOf(command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    return reportError(error);
  }
}

/** A reader that closes early (`conform list | head`), or a closed terminal, is no fault. */
function onStreamError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || error.code === 'EIO') return;
  process.exit(reportError(new HarnessError(`cannot write the output: ${error.message}`)));
}

/** Prints the error, with a stack only if it is unforeseen. Returns the exit code. */
function reportError(error: unknown): number {
  // Commander has printed it.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.conforms : EXIT.usage;
  if (error instanceof UsageError || error instanceof InconclusiveError) {
    complain(error.message);
    return error.exitCode;
  }
  complain(`harness error: ${faultText(error)}`);
  return EXIT.harness;
}

/** On stderr, without terminal escapes: names and paths in it come from files and command lines. */
export function complain(message: string): void {
  clearOpening(process.stderr);
  process.stderr.write(`conform: ${plainText(message)}\n`);
}

/** With a stack only for an unforeseen error: an error of the system (it has a code) has a clear message. */
function faultText(error: unknown): string {
  if (!(error instanceof HarnessError)) return traceOf(error);
  const { cause } = error;
  return cause instanceof Error && codeOf(cause) === null
    ? `${error.message}\n${cause.stack}`
    : error.message;
}
