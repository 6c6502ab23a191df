import { UsageError } from './exit.ts';
import { codeOf } from './thrown.ts';

/** Optional peer dependencies, with the range that works: most runs need none of them. */
const RANGES = {
  '@pact-foundation/pact-core': '20',
  '@redis/client': '6',
  testcontainers: '12',
} as const;

/** `user`: what needs the package, for the message. @throws UsageError if it is not installed. */
export function holdInstalled(name: keyof typeof RANGES, user: string): void {
  try {
    import.meta.resolve(name);
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError(`${user} needs the package ${name}, which is not installed`, {
      remedy: `run \`npm install ${name}@${RANGES[name]}\``,
    });
  }
}
