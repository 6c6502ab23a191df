import { readFileSync } from 'node:fs';

const { name, version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as {
  name: string;
  version: string;
};

/** Which harness judged, for reports. */
export const HARNESS = { name, version, node: process.version } as const;
