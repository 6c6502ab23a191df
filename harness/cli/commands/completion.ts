import type { Command } from 'commander';

type Shell = 'bash' | 'zsh' | 'fish';

/** `conform completion SHELL`: a script that completes commands, options and names of services. */
export function completion(shell: Shell, program: Command): string {
  const commands = commandsBelow(program);
  if (shell === 'fish') return fish(commands);
  const bash = forBash(commands);
  return shell === 'bash' ? bash : `#compdef conform\nautoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

interface Completed {
  /** `pact verify` */
  readonly words: string;
  readonly description: string;
  readonly options: readonly { readonly name: string; readonly description: string }[];
  /** Also the values of an argument, if it has few. */
  readonly subcommands: readonly string[];
}

function commandsBelow(command: Command, before: readonly string[] = []): readonly Completed[] {
  return command.commands.flatMap((below) => {
    const words = [...before, below.name()];
    const own: Completed = {
      words: words.join(' '),
      description: below.description(),
      options: below.options.map((option) => ({
        name: `--${option.name()}`,
        description: option.description,
      })),
      subcommands: [
        ...below.commands.map((each) => each.name()),
        ...below.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
      ],
    };
    return [own, ...commandsBelow(below, words)];
  });
}

/** Prints the names of services in the usual places. Without single quotes, which fish has around it. */
const SERVICES = [
  'ls conformance/services config/services 2>/dev/null | sed -n "s/\\.ya\\{0,1\\}ml\\$//p"',
  'sed -n "s/^service: *[^a-z0-9]*\\([a-z0-9-]*\\).*/\\1/p" conform.yaml 2>/dev/null',
].join('; ');

function forBash(commands: readonly Completed[]): string {
  const names = commands.filter(({ words }) => !words.includes(' ')).map(({ words }) => words);
  const cases = commands
    .toSorted((a, b) => b.words.length - a.words.length)
    .map(({ words, options, subcommands }) => {
      const offered = [...subcommands, ...options.map(({ name }) => name), '--help'].join(' ');
      return `    '${words} '*) words='${offered}' ;;`;
    });
  return `_conform() {
  local current=\${COMP_WORDS[COMP_CWORD]} words='${names.join(' ')}'
  local line="\${COMP_WORDS[*]:1:COMP_CWORD-1} "
  case "$line" in
${cases.join('\n')}
  esac
  if [ "$COMP_CWORD" -gt 1 ] && [[ $current != -* ]]; then words="$words $(${SERVICES})"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _conform conform
`;
}

function fish(commands: readonly Completed[]): string {
  const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
  const lines = commands.flatMap(({ words, description, options }) => {
    const path = words.split(' ');
    const name = path.at(-1) ?? '';
    const seen = (of: readonly string[]) =>
      of.map((each) => `__fish_seen_subcommand_from ${each}`).join('; and ');
    const parents = path.slice(0, -1);
    const before = parents.length === 0 ? '__fish_use_subcommand' : seen(parents);
    return [
      `complete -c conform -f -n ${quoted(before)} -a ${name} -d ${quoted(description)}`,
      ...options.map(
        (option) =>
          `complete -c conform -n ${quoted(seen(path))} -l ${option.name.slice(2)} -d ${quoted(option.description)}`,
      ),
    ];
  });
  return `${lines.join('\n')}\ncomplete -c conform -n '__fish_seen_subcommand_from run' -a '(${SERVICES})'\n`;
}
