/** Without these Windows starts no process. */
const SYSTEM = ['SYSTEMROOT', 'TEMP', 'TMP'];

/**
 * The whole environment of a process that runs Pact. Nothing of the user's: variables such as PACT_BROKER_BASE_URL or
 * PACT_DESCRIPTION change, without a word, what is verified, and secrets have no business there.
 */
export function childEnvironment(): NodeJS.ProcessEnv {
  const inherited = SYSTEM.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), PACT_DO_NOT_TRACK: 'true' };
}
