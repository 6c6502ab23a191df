/** What the options alone do not tell. */

export const EXIT_CODES = `
Exit codes:
  0   every service conforms
  1   a service does not conform
  2   the command line or the config is wrong; nothing was sent
  3   no verdict: unreachable, a MUST check blocked, nothing ran, or interrupted
  70  a fault of conform itself

\`conform help COMMAND\` tells more. Results go to stdout, progress to stderr.`;

export const RUN_EXAMPLES = `
Services come before the options, since --suite and --check take several values.

Examples:
  conform run                                          every service of config/services
  conform run search --environment staging --strict
  conform run search --suite auth json
  conform run search --check 'auth.*' --verbose
  conform run search --provider-url http://127.0.0.1:8080`;
