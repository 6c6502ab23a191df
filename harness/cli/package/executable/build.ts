import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, zstdCompressSync } from 'node:zlib';
import { rolldown } from 'rolldown';

/**
 * Builds `conform` as one executable, which needs no Node: `npm run executable -- PATH` (default: `conform`). It is the
 * Node of this repository, with the package as `npm install` installs it. Node 26 can do so without postject, but needs
 * libatomic, which small images lack.
 */
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** The program that Node 24's documentation names for this. */
const POSTJECT = 'postject@1.0.0-alpha.6';
/** Where Node looks for the resource. */
const RESOURCE = ['NODE_SEA_BLOB', '--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];
/** Files that no run reads. */
const UNREAD =
  /\.(?:[cm]?ts|map)$|\/(?:README|CHANGELOG|SECURITY)[^/]*$|\/(?:\.bin|\.package-lock\.json|docs)(?:\/|$)/;

const target = resolve(process.argv[2] ?? 'conform');
const folder = mkdtempSync(join(tmpdir(), 'conform-executable-'));
try {
  npm(ROOT, 'pack', '--silent', '--pack-destination', folder);
  const [tarball = ''] = globSync('*.tgz', { cwd: folder });
  const app = join(folder, 'app');
  const tool = join(folder, 'tool');
  for (const [prefix, name] of [
    [app, join(folder, tarball)],
    [tool, POSTJECT],
  ] as const) {
    mkdirSync(prefix);
    npm(
      prefix,
      'install',
      '--prefix',
      prefix,
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--silent',
      name,
    );
  }
  const payload = archive(app);
  const at = (name: string) => join(folder, name);
  writeFileSync(at('package'), payload);
  writeFileSync(at('digest'), createHash('sha256').update(payload).digest('hex').slice(0, 32));
  const build = await rolldown({
    input: fileURLToPath(new URL('./start.ts', import.meta.url)),
    platform: 'node',
  });
  await build.write({ file: at('start.cjs'), format: 'cjs' });
  await build.close();
  const settings = {
    main: at('start.cjs'),
    output: at('blob'),
    disableExperimentalSEAWarning: true,
    assets: { package: at('package'), digest: at('digest') },
  };
  writeFileSync(at('executable.json'), JSON.stringify(settings));
  const node = join(ROOT, 'node_modules/node/bin/node');
  execFileSync(node, ['--experimental-sea-config', at('executable.json')], { stdio: 'pipe' });
  mkdirSync(dirname(target), { recursive: true });
  cpSync(node, target);
  const postject = join(tool, 'node_modules/.bin/postject');
  const [name = '', ...fuse] = RESOURCE;
  execFileSync(postject, [target, name, at('blob'), ...fuse], { stdio: 'pipe' });
  process.stdout.write(`${target}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function npm(cwd: string, ...args: readonly string[]): void {
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** The files of a folder as `start.ts` unpacks them. */
function archive(from: string): Buffer {
  const paths = globSync('node_modules/**/*', { cwd: from, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name).slice(from.length + 1))
    .filter((path) => !UNREAD.test(path))
    .toSorted();
  const files = new Map(paths.map((path) => [path, readFileSync(join(from, path))]));
  files.set('import.cjs', Buffer.from('module.exports = (url) => import(url);\n'));
  const index = Buffer.from(JSON.stringify([...files].map(([path, { length }]) => [path, length])));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  return zstdCompressSync(Buffer.concat([length, index, ...files.values()]), {
    params: { [constants.ZSTD_c_compressionLevel]: 19 },
  });
}
