/** What `conform init` needs of a scheme. */
export interface FirstUse {
  readonly asks: readonly Question[];
  /** Lines below `scheme:`, of the answers by their options. */
  lines(answers: Answers): readonly string[];
  /** Lines beside `credentials:`; `path` makes a path as the file has it of one that was answered. */
  beside?(answers: Answers, path: (answered: string) => string): readonly string[];
}

/** A question, and the option that answers it. */
export interface Question {
  /** Without its dashes. */
  readonly option: string;
  readonly question: string;
  /** Suggested; `SERVICE` stands for the name of the service in capitals. */
  readonly fallback: string;
  /** The answer is the name of an environment variable. */
  readonly variable: boolean;
}

export type Answers = Readonly<Record<string, string>>;

const KEY_VARIABLE: Question = {
  option: 'key-env',
  question: 'Environment variable with the key',
  fallback: 'SERVICE_API_KEY',
  variable: true,
};

/** The lines of a scheme that rests on one secret, of the name of the variable that holds it. */
export function ofOneVariable(lines: (variable: string) => readonly string[]): FirstUse {
  return { asks: [KEY_VARIABLE], lines: (answers) => lines(answers[KEY_VARIABLE.option] ?? '') };
}

/** The lines of a scheme whose key stands under a name of the service's own. */
export function ofNamedKey(question: string, fallback: string): FirstUse {
  const asks: readonly Question[] = [
    { option: 'key-name', question, fallback, variable: false },
    KEY_VARIABLE,
  ];
  return {
    asks,
    lines: (answers) => [
      `name: ${JSON.stringify(answers['key-name'])} # ${question.toLowerCase()}`,
      ...keyLines(answers[KEY_VARIABLE.option] ?? ''),
    ],
  };
}

/** For the keys `KEYED`. */
export function keyLines(variable: string): readonly string[] {
  return [
    `key: \${env:${variable}} # read when a run starts, never stored`,
    `secondKey: \${env:${variable}_2:-} # optional: shows whether a limit counts for each key`,
  ];
}
