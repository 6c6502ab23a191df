import { createInterface } from 'node:readline';
import { UsageError } from '../base/exit.ts';
import type { Unfit } from '../config/written/first-service.ts';

export interface Question {
  readonly option: string;
  readonly question: string;
  readonly fallback?: string;
  /** What is wrong with an answer; null for nothing. */
  readonly unfit: (text: string) => Unfit;
}

export interface Asker {
  /** What is known, else what the user says, else the fallback. */
  answer(given: string | undefined, question: Question): Promise<string>;
  close(): void;
}

/** Asks at a terminal, until an answer will do; elsewhere what is missing is a usage error with `example` as its remedy. */
export function openAsker(example: string): Asker {
  if (!process.stdin.isTTY) {
    return {
      async answer(given, { option, unfit }) {
        if (given === undefined) {
          throw new UsageError(`--${option} is needed where nobody can be asked`, { remedy: example });
        }
        const refused = unfit(given);
        if (refused === null) return given;
        throw new UsageError(refused.problem, { key: option, remedy: refused.remedy });
      },
      close() {},
    };
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Lines are kept as they come: somebody may paste several at once.
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
          if (line.done) throw new UsageError('no answer was given, and nothing is written');
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
