import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const { version } = JSON.parse(read('package.json'));

describe('the version of the package', () => {
  it.each([
    ['README.md', `./conform-api-${version}.tgz`],
    ['docs/nightly.md', `/conform:${version}`],
    ['docs/releases.md', `/conform@v${version}`],
    ['package-lock.json', `"name": "conform-api",\n  "version": "${version}"`],
  ])('is that of %s', (path, named) => {
    expect(read(path)).toContain(named);
  });

  it('has a section of the changelog, of at most 60 lines', () => {
    const [, section = ''] = read('CHANGELOG.md').split(`\n## [${version}]`);
    const lines =
      section
        .split(/\n## \[/)[0]
        ?.trim()
        .split('\n') ?? [];
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.length).toBeLessThanOrEqual(60);
  });
});
