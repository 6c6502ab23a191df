import { createInterface } from 'node:readline';
import { UsageError } from '../base/exit.ts';
import type { AnswerFault } from '../config/written/first-service.ts';

export interface Prompt {
  readonly option: string;
  readonly question: string;
  readonly fallback?: string;
  /** The fault of an answer; null if none. */
  readonly unfit: (text: string) => AnswerFault;
}

export interface UserInput {
  /** The given value, else the user's answer, else the fallback. */
  answer(given: string | undefined, question: Prompt): Promise<string>;
  close(): void;
}

/** Asks at a terminal until the answer is valid; without one a missing value is a usage error with `example` as remedy. */
export function openAsker(example: string): UserInput {
  if (!process.stdin.isTTY) {
    return {
      async answer(given, { option, unfit }) {
        if (given === undefined) {
          throw new UsageError(`--${option} is needed without a terminal`, { remedy: example });
        }
        const refused = unfit(given);
        if (refused === null) return given;
        throw new UsageError(refused.problem, { key: option, remedy: refused.remedy });
      },
      close() {},
    };
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Buffers lines: the user may paste several at once.
  const said = lines[Symbol.asyncIterator]();
  return {
    async answer(given, { question, fallback = '', unfit }) {
      let text = given;
      for (;;) {
        if (text === undefined) {
          lines.setPrompt(`${question}${fallback === '' ? '' : ` [${fallback}]`}: `);
          lines.prompt();
          const line = await said.next();
          // Ctrl-C, or the end of the input.
          if (line.done) throw new UsageError('no answer was given; nothing was written');
          text = line.value.trim() || fallback;
        }
        const refused = unfit(text);
        if (refused === null) return text;
        process.stderr.write(`  that ${refused.problem}: ${refused.remedy}\n`);
        text = undefined;
      }
    },
    close: () => lines.close(),
  };
}
