import { type ChildProcess, spawn } from 'node:child_process';
import { codeOf } from '../../base/thrown.ts';

type CommandOutput =
  | { readonly stdout: Buffer }
  /** Why there is none. Never holds what the command printed. */
  | { readonly failure: string };

interface CommandLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** Runs a command in its own process group, ended on time-out. stderr is not read: it may have a secret. */
export function commandOutput(
  command: string,
  { input, ...options }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly input?: string },
  { timeoutMs, maxBytes }: CommandLimits,
): Promise<CommandOutput> {
  const { promise, resolve } = Promise.withResolvers<CommandOutput>();
  const child = spawn(command, {
    ...options,
    shell: true,
    detached: process.platform !== 'win32',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // Whether the command reads what it is given is its own affair.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  const chunks: Buffer[] = [];
  let received = 0;
  const endGroup = () => killGroup(child);
  const timer = setTimeout(() => end({ failure: `did not finish within ${timeoutMs / 1000} s` }), timeoutMs);
  process.once('exit', endGroup);

  let ended = false;
  const end = (output: CommandOutput) => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    process.removeListener('exit', endGroup);
    endGroup();
    child.stdout.destroy();
    resolve(output);
  };
  child.stdout.on('data', (chunk: Buffer) => {
    received += chunk.length;
    chunks.push(chunk);
    if (received > maxBytes) end({ failure: `printed more than ${maxBytes / 1024} KiB` });
  });
  child.stdout.on('error', () => end({ failure: 'its output could not be read' }));
  child.on('error', () => end({ failure: 'could not be started' }));
  child.on('close', (code, signal) => {
    if (code === 0) end({ stdout: Buffer.concat(chunks) });
    else end({ failure: code === null ? `was ended by ${signal}` : `exited with ${code}` });
  });
  return promise;
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // No process of the group is left, as intended.
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}
