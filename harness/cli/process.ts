import { readFileSync } from 'node:fs';
import type { WriteStream } from 'node:tty';
import { CommanderError } from 'commander';
import { EXIT, HarnessError, InconclusiveError, UsageError } from '../base/exit.ts';
import { codeOf, traceOf } from '../base/thrown.ts';
import { plainText } from '../report/results/words/plain.ts';
import { guard } from './ci/log-commands.ts';

const { name, version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { name: string; version: string };

/** Which harness judged, for reports. */
export const HARNESS = { name, version, node: process.version } as const;

/** What a stream can show. `NO_COLOR` (any value) and a stream that is no terminal mean plain text. */
export function terminalOf(stream: Pick<WriteStream, 'isTTY'>): {
  readonly isTTY: boolean;
  readonly color: boolean;
} {
  const isTTY = stream.isTTY === true && process.env.TERM !== 'dumb';
  const refused = process.env.NO_COLOR !== undefined && process.env.NO_COLOR !== '';
  return { isTTY, color: isTTY && !refused };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls back, once, at the first signal that asks for the end; the process then ends when it is ready. */
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

/** What still holds the process when its command is done may do so for so long, in ms. */
const LINGER_MS = 2_000;

/**
 * Runs a command as the whole of a process. Whatever it throws ends here, once: one line on stderr and the exit
 * code of its class. Node's own code for an error that nobody caught is 1, which would say of the service that
 * it does not conform.
 */
export async function conclude(command: () => Promise<number>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) guard(stream);
  process.stdout.on('error', onStreamError);
  // What goes on is told there, which is worth no run; and there is nowhere to complain.
  process.stderr.on('error', () => {});
  process.on('uncaughtException', (error) => process.exit(tell(error)));
  process.exitCode = await exitCodeOf(command);
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** The exit code of a command, whether it ends well or throws; what went wrong is said on stderr. */
export async function exitCodeOf(command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    return tell(error);
  }
}

/** A reader that has seen enough (`conform list | head`), or a terminal that is gone, is no fault. */
function onStreamError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || error.code === 'EIO') return;
  process.exit(tell(new HarnessError(`cannot write what there is to say: ${error.message}`)));
}

/** Says what went wrong; a stack only for what nobody foresaw. Returns the exit code. */
function tell(error: unknown): number {
  // It has said so itself.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.conforms : EXIT.usage;
  if (error instanceof UsageError || error instanceof InconclusiveError) {
    complain(error.message);
    return error.exitCode;
  }
  complain(`harness error: ${faultText(error)}`);
  return EXIT.harness;
}

/** On stderr, without what would act on a terminal: names and paths in it come from files and command lines. */
export function complain(message: string): void {
  process.stderr.write(`conform: ${plainText(message)}\n`);
}

/** A stack only where nobody foresaw the error: what the system refuses (it has a code) is said well enough. */
function faultText(error: unknown): string {
  if (!(error instanceof HarnessError)) return traceOf(error);
  const { cause } = error;
  return cause instanceof Error && codeOf(cause) === null
    ? `${error.message}\n${cause.stack}`
    : error.message;
}
