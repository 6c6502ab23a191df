import { Argument, Command, Option } from 'commander';
import { EXIT } from '../base/exit.ts';
import { didYouMean } from '../config/yaml/nearest.ts';
import { plainLine, plainText } from '../report/results/words/plain.ts';
import { showOpening } from '../report/terminal/opening.ts';
import {
  allow,
  calendarDay,
  concurrency,
  configDir,
  environment,
  hideBut,
  junitWarnings,
  maxFailures,
  newConfig,
  port,
  quiet,
  readFromEnvironment,
  repeat,
  reporter,
  reportsIn,
  reportsOut,
  results,
  rules,
  runId,
  strict,
  timeout,
  verbose,
  withoutNaturalDefault,
} from './options.ts';
import { HARNESS, terminalOf } from './process.ts';
import { isTarget } from './unconfigured/target.ts';

/**
 * The commands and their options, nothing else: each command's work is in a separate file, loaded on use, so that a usage
 * error is reported at once.
 */
export function buildProgram(): { run(args: readonly string[]): Promise<number> } {
  let exitCode: number = EXIT.conforms;
  /** The action of a command: calls the function of that name in a module of `commands/`. */
  const by = <N extends string>(load: () => Promise<Readonly<Record<N, Does>>>, name: N) => {
    return async (...given: readonly unknown[]) => {
      const { [name]: does } = await load();
      exitCode = await does(...(given as readonly never[]));
    };
  };

  const program = new Command('conform')
    .description("Give it your API's contract and a URL. It reports which rules the service breaks.")
    .version(HARNESS.version)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(plainText(text).replace(/^error: /, 'conform: ')),
    })
    .configureHelp({ optionDescription: withoutNaturalDefault })
    .addHelpText('after', EXIT_CODES)
    .helpCommand(false);
  const run = program
    .command('run')
    .description('check services and write reports')
    .argument('[service...]', 'names of services (default: all); or an OpenAPI document, or a URL')
    .addOption(environment())
    .addOption(rules())
    .addOption(allow())
    .option('--suite <name...>', 'only these suites')
    .option('--check <id-glob...>', "only these checks, e.g. 'auth.*'")
    .option(
      '--operation <glob...>',
      "only these operations: 'GET /v1/orders*', a path, an operationId or a tag; ! leaves out",
    )
    .addOption(configDir())
    .addOption(reportsOut())
    .addOption(junitWarnings())
    .addOption(strict())
    .option('--partial', 'with --strict: a run without all checks or operations may pass', false)
    .option('--as-of <day>', 'date for known failures, e.g. 2027-01-31 (default: today)', calendarDay)
    .option('--bail', 'stop at the first failure', false)
    .option('--last-failed', 'run only the checks that failed in the last run', false)
    .addOption(repeat())
    .addOption(maxFailures())
    .addOption(reporter())
    .option('--json', 'print results.json instead of the verdict', false)
    .addOption(timeout())
    .option('--http2', 'ask the services over HTTP/2', false)
    .option(
      '--proxy <url>',
      'proxy for all requests to services elsewhere, such as http://proxy.example:3128',
    )
    .option('--url <url>', 'URL of the service, for a document or instead of the configured one')
    .addOption(new Option('--provider-url <url>', 'an older name of --url').hideHelp())
    .addOption(
      new Option(
        '-H, --header <text>',
        "for a document or URL: a header such as 'Authorization: Bearer …', or @FILE",
      ).argParser((text: string, before: readonly string[] = []) => [...before, text]),
    )
    .option('--sample-path <path>', 'for a document: path of a GET that works')
    .option('--shard <i/n>', 'check this part of the services; auto: the part of this CI job')
    .option('--run-id <id>', 'id of the run, e.g. the id of the pipeline', runId)
    .addOption(concurrency())
    .option('--real-time', 'run the built-in services in real time instead of simulated time', false)
    .option('--watch', 'run again whenever the config changes', false)
    .option('--dry-run', 'show the checks, requests, time and risks of a run; send nothing', false)
    .addOption(quiet())
    .addOption(verbose('check'))
    .addHelpText('after', RUN_EXAMPLES)
    .action(async (services, options) => {
      if (!options.quiet && !options.dryRun && terminalOf(process.stderr).isTTY)
        showOpening(process.stderr, plainLine(`Reading ${services.join(', ') || 'the config'} …`, 70));
      const { workerAhead } = await import('../engine/worker/worker-process.ts');
      const ahead = options.dryRun ? null : workerAhead();
      try {
        const { run } = await import('./commands/run.ts');
        exitCode = await run(services, options, ahead === null ? {} : { newWorker: ahead.take });
      } finally {
        ahead?.release();
      }
    });

  program
    .command('list')
    .description('list every check with its suite, title and grounds')
    .option('--json', 'print JSON', false)
    .option('--service <name>', 'show how each check of its rule set applies to this service')
    .addOption(rules())
    .addOption(environment())
    .addOption(configDir())
    .action(by(() => import('./commands/list.ts'), 'list'));

  program
    .command('explain')
    .description('explain one check: why it exists and what to do when it fails')
    .argument('<check-id>')
    .addOption(configDir())
    .action(by(() => import('./commands/explain.ts'), 'explain'));

  program
    .command('prove')
    .description('show that checks of your own can fail: run their proofs; send nothing')
    .argument('[service...]', 'names of services (default: all)')
    .addOption(configDir())
    .action(by(() => import('./commands/prove.ts'), 'prove'));

  program
    .command('clauses')
    .description('explain what a contract can say, with an example of each clause')
    .argument('[key]', 'show this clause in full, such as limits.rate')
    .action(by(() => import('./commands/clauses.ts'), 'clauses'));

  program
    .command('config')
    .description('show the config in force and where each value comes from, without secrets')
    .argument('[service]')
    .addOption(environment())
    .addOption(configDir())
    .action(by(() => import('./commands/config.ts'), 'showConfig'));

  program
    .command('serve')
    .description('start a built-in service, or a mock of an OpenAPI document that keeps state')
    .argument('[contract]', 'search, messaging, realtime, or an OpenAPI document')
    .option('--port <port>', 'port to listen on (default: a free one)', port, 0)
    .option('--defect [name...]', 'give it these faults on purpose; without a name: list them')
    .option('--variant <name>', 'give it this other behavior, which conforms too')
    .option('--plan <n/window>', 'requests per window, e.g. 100/60s')
    .addOption(configDir())
    .action(by(() => import('./commands/serve.ts'), 'serve'));

  const formats = new Option('--format <names>', 'only these formats, separated by commas');
  program
    .command('report')
    .description('write the reports of an earlier run again, even of a killed one')
    .argument('[results]', 'results.json or journal.ndjson', 'reports/latest/results.json')
    .addOption(formats)
    .option('--reports <dir>', 'folder for reports (default: the folder of the input)')
    .addOption(junitWarnings())
    .action(by(() => import('./commands/reports.ts'), 'report'));

  program
    .command('judge')
    .description("judge recorded runs with today's checks; send nothing")
    .argument(
      '<evidence...>',
      'folders of runs, journal.ndjson, results.json or HAR files; shards of one run get one verdict',
    )
    .option('--service <name...>', 'only these services; for a HAR file: its service')
    .option('--suite <name...>', 'only these suites (default: those of the recorded run)')
    .option('--check <id-glob...>', "only these checks, e.g. 'auth.*'")
    .addOption(configDir())
    .option('--reports <dir>', 'folder for reports', 'reports/judged')
    .addOption(junitWarnings())
    .addOption(strict())
    .option('--as-of <day>', 'date for known failures (default: the day of the run)', calendarDay)
    .addOption(quiet())
    .addOption(verbose('check'))
    .action(by(() => import('./commands/judge.ts'), 'judge'));

  const pact = program.command('pact').description('verify and publish pacts: what consumers expect');
  pact
    .command('verify')
    .description('check whether services do what their consumers expect')
    .argument('[service...]', 'names of services (default: all)')
    .addOption(environment())
    .option('--pact <path-or-url...>', 'these files, folders and URLs instead of the configured pacts')
    .option('--check <id-glob...>', "only these interactions, e.g. 'pact.interaction.web-shop.*'")
    .addOption(configDir())
    .addOption(reportsOut())
    .addOption(junitWarnings())
    .addOption(strict())
    .option('--bail', 'stop at the first failure', false)
    .option('--url <url>', 'verify the service at this URL instead of its configured provider')
    .addOption(new Option('--provider-url <url>', 'an older name of --url').hideHelp())
    .addOption(concurrency())
    .option('--watch', 'verify again whenever the config changes', false)
    .addOption(quiet())
    .addOption(verbose('interaction'))
    .action(by(() => import('./commands/pact.ts'), 'verifyPacts'));
  pact
    .command('publish')
    .description('publish pacts, or the results of a run, to the pact broker')
    .argument('[service...]', 'names of services (default: all)')
    .addOption(environment())
    .option('--consumer-version <version>', 'publish the pact files under this version of the consumers')
    .option('--provider-version <version>', 'publish the results under this version of the service')
    .option('--results <file>', 'results.json of the run (default: the last run in reports/)')
    .option('--branch <name>', 'branch of that version')
    .option('--build-url <url>', 'URL of the build')
    .addOption(configDir())
    .action(by(() => import('./commands/pact.ts'), 'publish'));

  program
    .command('merge')
    .description('merge the reports of the shards of a run (run --shard)')
    .argument('<dir...>', 'report folders of the shards')
    .addOption(reportsOut())
    .action(by(() => import('./commands/reports.ts'), 'merge'));

  program
    .command('diff')
    .description('compare two runs: the last two, the last and RUN, or both RUNs')
    .argument('[run...]', 'ids of runs, or their first characters')
    .addOption(reportsIn())
    .action(by(() => import('./commands/reports.ts'), 'diff'));

  program
    .command('accept')
    .description('pin the observations of the last run: a later change fails')
    .argument('[service]', 'service of the last run (default: all)')
    .argument('[key...]', 'keys of observations, e.g. limits.algorithm (default: all)')
    .option('--yes', 'accept the differences without asking', false)
    .addOption(results())
    .addOption(reportsIn())
    .addOption(configDir())
    .action(by(() => import('./commands/baseline.ts'), 'accept'));

  const known = program.command('known').description('add or remove known failures');
  known
    .command('add')
    .description('list failures of the last run as known, in known/SERVICE.yaml')
    .argument('[service...]', 'services of the last run (default: all)')
    .requiredOption('--check <id-glob...>', "its failures and warnings, e.g. 'headers.*'")
    .option('--reason <text>', 'why it is not fixed yet')
    .option('--owner <name>', 'who will fix it')
    .option('--until <day>', 'last day on which it counts as known, e.g. 2027-01-31')
    .option('--link <url>', 'URL of its discussion')
    .addOption(results())
    .addOption(reportsIn())
    .addOption(configDir())
    .action(by(() => import('./commands/baseline.ts'), 'addKnown'));
  known
    .command('prune')
    .description('remove entries that passed in the last run')
    .argument('[service...]', 'services of the last run (default: all)')
    .addOption(results())
    .addOption(reportsIn())
    .addOption(configDir())
    .action(by(() => import('./commands/baseline.ts'), 'pruneKnown'));

  const scheme = new Option('--scheme <scheme>', 'how clients authenticate');
  const init = program
    .command('init')
    .description('write a first config for your service')
    .option('--service <name>', 'name of the service')
    .option('--url <base-url>', 'base URL of the running service')
    .option('--openapi <file-or-url>', 'its OpenAPI document; conform reads most answers from it')
    .option('--asyncapi <file-or-url>', 'its AsyncAPI document, of messages over WebSocket')
    .option('--sample-path <path>', 'path of a GET request that works, such as /v1/orders')
    .addOption(scheme)
    .addOption(newConfig())
    .action(by(() => import('./commands/init.ts'), 'init'));

  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completion } = await import('./commands/completion.ts');
      process.stdout.write(completion(shell, program));
    });

  program
    .command('help')
    .description('help for a command')
    .argument('[command...]')
    .option('--all', 'show every option', false)
    .action((names: readonly string[], { all }: { readonly all: boolean }) => {
      const found = commandNamed(program, names);
      if (all)
        hideBut(
          found,
          found.options.map((option) => option.name()),
        );
      found.help();
    });

  pointAtOwnHelp(program, 'conform');
  program.hook('preAction', (_, command) => readFromEnvironment(command));
  hideBut(run, FIRST_OPTIONS);
  return {
    async run(args) {
      // Only `report` needs the formats: no other command loads them.
      if (args.includes('report')) {
        const { REPORT_FORMATS } = await import('../report/formats.ts');
        formats.description += `: ${REPORT_FORMATS.map(({ name }) => name).join(', ')}`;
      }
      if (args.includes('init')) {
        const { QUESTIONS, SCHEMES } = await import('../config/credential/schemes.ts');
        scheme.description += `: ${SCHEMES.map(({ name }) => name).join(', ')}`;
        for (const { option, question, variable } of QUESTIONS) {
          const words = question.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
          init.option(`--${option} <${variable ? 'NAME' : 'text'}>`, words);
        }
      }
      // A document or URL needs no command: `conform openapi.yaml` runs it.
      const [first = ''] = args;
      const given = isTarget(first) ? ['run', ...args] : args;
      await program.parseAsync(given, { from: 'user' });
      return exitCode;
    },
  };
}

type Does = (...given: readonly never[]) => Promise<number>;

/** @throws CommanderError with the nearest name when there is no such command. */
function commandNamed(from: Command, [name, ...rest]: readonly string[]): Command {
  if (name === undefined) return from;
  const found = from.commands.find((command) => command.name() === name);
  if (found !== undefined) return commandNamed(found, rest);
  const remedy = didYouMean(
    name,
    from.commands.map((command) => command.name()),
  );
  return from.error(`conform: there is no command ${JSON.stringify(name)}\n  remedy: ${remedy}`);
}

/** After an error each command points at its own help. */
function pointAtOwnHelp(command: Command, called: string): void {
  command.showHelpAfterError(`(see \`${called} --help\`)`);
  for (const below of command.commands) pointAtOwnHelp(below, `${called} ${below.name()}`);
}

const EXIT_CODES = `
Exit codes:
  0   every service conforms
  1   a service does not conform
  2   the command line or the config is wrong; nothing was sent
  3   inconclusive: unreachable, key refused, a MUST check blocked, nothing ran, or
      interrupted
  70  a fault of conform itself

Run \`conform help COMMAND\` for details. Results go to stdout, progress to stderr.`;

/** Options of `conform run` on the first screen of its help. */
const FIRST_OPTIONS = [
  'url',
  'header',
  'environment',
  'rules',
  'allow',
  'suite',
  'check',
  'config',
  'reports',
  'reporter',
  'last-failed',
  'strict',
  'dry-run',
  'quiet',
  'verbose',
];

const RUN_EXAMPLES = `
\`conform help run --all\` shows every option. Each can be set by a variable: --rules by CONFORM_RULES.
Services come before the options, since --suite and --check take several values.

Examples:
  conform run                                          every service of config/services
  conform run search --environment staging --strict
  conform run search --dry-run
  conform run search --suite auth json
  conform run search --check 'auth.*' --verbose
  conform run search --url http://127.0.0.1:8080
  conform run openapi.yaml --url http://127.0.0.1:8080 -H 'Authorization: Bearer …'`;
