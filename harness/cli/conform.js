#!/usr/bin/env node
// Plain JavaScript that every Node can read, so that one which is too old gets a sentence and not a stack trace.
import { existsSync } from 'node:fs';

const NEEDED = [22, 12];
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  process.stderr.write(
    `conform: this is Node ${process.versions.node}, which lacks Promise.withResolvers, module.enableCompileCache or require of ES modules\n  remedy: use Node ${NEEDED.join('.')} or newer\n`,
  );
  process.exit(2);
}
// A checkout runs its sources, the package what was built of them.
const source = new URL('./main.ts', import.meta.url);
const built = new URL('../../dist/harness/cli/main.js', import.meta.url);
await import(existsSync(source) ? source : built);
