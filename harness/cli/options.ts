import { type Command, Help, InvalidArgumentError, Option } from 'commander';
import { ALLOWED } from '../config/blocks/allowances.ts';
import { isDay } from '../config/shape/text-forms.ts';
import { usualConfig } from '../config/yaml/read-text.ts';
import { DEFAULT_CHOICES, JUNIT_WARNINGS } from '../report/format.ts';

/** Options shared by several commands. */

export const configDir = () =>
  new Option('-c, --config <path>', 'conform.yaml, or folder with services/ and contracts/').default(
    usualConfig(),
  );
export const newConfig = () =>
  new Option(
    '-c, --config <path>',
    'file such as conform.yaml, or folder with services/ and contracts/ for several services',
  );
export const junitWarnings = () =>
  new Option('--junit-warnings <as>', 'how JUnit reports show warnings')
    .choices(JUNIT_WARNINGS)
    .default(DEFAULT_CHOICES.junitWarnings);
export const concurrency = () =>
  new Option(
    '-j, --concurrency <n>',
    'services checked at the same time (default: limited by memory and file handles)',
  ).argParser(positiveInteger);
export const environment = () =>
  new Option('-e, --environment <name>', 'variant of the service config, e.g. staging');

/** Where a command writes reports. */
export const reportsOut = () => new Option('-o, --reports <dir>', 'folder for reports').default('reports');
/** Where a command reads earlier reports. */
export const reportsIn = () => new Option('--reports <dir>', 'folder with reports').default('reports');
export const results = () =>
  new Option('--results <file>', 'results.json of the run (default: the last run in --reports)');
export const allow = () =>
  new Option(
    '--allow <what>',
    'allow for this run: writes, leftovers, limit, sizes, with commas between',
  ).argParser((written: string) => {
    const names = written.split(',').map((each) => each.trim());
    const unknown = names.find((each) => !ALLOWED.includes(each));
    if (unknown !== undefined) throw new InvalidArgumentError(`it is one of ${ALLOWED.join(', ')}.`);
    return names;
  });
export const rules = () =>
  new Option('--rules <set>', 'rule set: api, server, all, or one with its date, e.g. api@2026-11');
export const strict = () => new Option('--strict', 'a warning counts as a failure').default(false);
export const quiet = () => new Option('-q, --quiet', 'print only the verdict').conflicts('verbose');

export const verbose = (each: string) => new Option('-v, --verbose', `print every ${each} with its outcome`);
export const reporter = () =>
  new Option(
    '--reporter <names>',
    'write only these reports, with commas between, such as html,junit (default: all); results.json is always written',
  ).argParser((written: string) => written.split(',').map((each) => each.trim()));
export const timeout = () =>
  new Option(
    '--timeout <duration>',
    'longest wait for a response, such as 10s (default: that of the config)',
  );
export const maxFailures = () =>
  new Option('--max-failures <n>', 'stop after this many failures').argParser(positiveInteger);

export const repeat = () =>
  new Option('--repeat <n>', 'with --last-failed: this many times').argParser(positiveInteger);

/** Commands that read their options from the environment as well. Others change files or a broker. */
const FROM_ENVIRONMENT = ['run', 'judge', 'verify', 'list', 'config', 'report', 'merge', 'diff'];
/** As values of a variable, these leave a switch off. */
const OFF = /^(?:0|false|no|off|)$/i;

/** Reads each option from a variable as well, `--junit-warnings` from CONFORM_JUNIT_WARNINGS. The command line comes first. */
export function readFromEnvironment(command: Command): void {
  if (!FROM_ENVIRONMENT.includes(command.name())) return;
  for (const option of command.options) {
    const variable = `CONFORM_${option.name().toUpperCase().replaceAll('-', '_')}`;
    const written = process.env[variable] ?? '';
    const name = option.attributeName();
    if (written === '' || command.getOptionValueSource(name) === 'cli') continue;
    const isSwitch = !option.required && !option.optional;
    if (isSwitch && OFF.test(written)) continue;
    try {
      const value = isSwitch || valueIn(option, written);
      command.setOptionValueWithSource(name, value, 'env');
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      command.error(`error: ${variable}: ${error.message}`);
    }
  }
}

/** Lists stand with commas or blanks between. */
function valueIn({ parseArg, variadic }: Option, written: string): unknown {
  if (variadic) return written.split(/[\s,]+/).filter((each) => each !== '');
  return parseArg ? parseArg(written, undefined) : written;
}

/** Hides options from the first screen of help. `conform help COMMAND --all` shows them. */
export function hideBut(command: Command, shown: readonly string[]): void {
  for (const option of command.options) option.hidden = !shown.includes(option.name());
}

/** Leaves out the default of switches, which is always off. */
export function withoutNaturalDefault(this: Help, option: Option): string {
  return option.defaultValue === false
    ? option.description
    : Help.prototype.optionDescription.call(this, option);
}

/** Parsers of option values. Each throws InvalidArgumentError with the expected form. */

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Give a whole number from 1.');
  return value;
}

export function calendarDay(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('Give a day of the calendar, such as 2027-01-31.');
  return text;
}

/** It becomes part of a folder name and of a header. */
export function runId(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text))
    throw new InvalidArgumentError('Give up to 64 letters, digits, dots and hyphens.');
  return text;
}

export function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('Give a port, 0 to 65535.');
  return value;
}
