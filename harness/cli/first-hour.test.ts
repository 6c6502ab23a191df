import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { type Orders, startOrders } from './fixtures/orders.ts';

/** The README shows commands with their output: they are typed here, and the output is compared. */

const README = fileURLToPath(new URL('../../README.md', import.meta.url));
/** What the service is like when the reader comes to this command. */
const STORY: readonly (readonly [command: RegExp, (orders: Orders) => void])[] = [
  [/ openapi\.yaml --url /, (orders) => orders.has('wrong-type', 'no-challenge')],
  [/ known add /, (orders) => orders.has('wrong-type')],
];
/** Number of lines that the README has at most. */
const LONGEST = 220;
/** Takes the place of lines that the page leaves out. */
const OMITTED = '…';

it('is short', () => {
  expect(readFileSync(README, 'utf8').split('\n').length).toBeLessThanOrEqual(LONGEST + 1);
});

it('shows the output of a run as the output of the README', async () => {
  const page = readFileSync(README, 'utf8');
  const orders = await startOrders(onTestFinished);
  let shown = page;
  for (const [block, inside = ''] of page.matchAll(/```console\n(.*?)```/gs)) {
    shown = shown.replace(block, () => `\`\`\`console\n${''}\`\`\``);
    const typed = await session(orders, inside);
    shown = shown.replace('```console\n```', () => `\`\`\`console\n${typed}\`\`\``);
  }
  await expect(shown).toMatchFileSnapshot(README);
});

/** The block as it is if its output is still that of its commands; else with the output of today. */
async function session(orders: Orders, block: string): Promise<string> {
  let session = '';
  for (const part of block.split(/^(?=\$ )/m)) {
    const [line = '', ...lines] = part.split('\n');
    const output = lines.join('\n');
    session += `${line}\n`;
    if (!line.startsWith('$ npx conform ')) {
      session += output;
      continue;
    }
    for (const [command, comes] of STORY) if (command.test(line)) comes(orders);
    const { text } = await orders.type(line.slice(2));
    session += isShownBy(output, text) ? output : text;
  }
  return session;
}

/** Whether these lines are the output, but for figures that differ from one run, or one version, to the next. */
function isShownBy(shown: string, output: string): boolean {
  const lines = lasting(output).split('\n');
  let at = 0;
  return lasting(shown)
    .split(`\n${OMITTED}\n`)
    .every((part, index) => {
      const wanted = part.split('\n');
      const from = lines.findIndex(
        (_, start) => start >= at && wanted.every((line, n) => lines[start + n] === line),
      );
      const isThere = from >= 0 && (index > 0 || from === 0);
      at = from + wanted.length;
      return isThere;
    });
}

function lasting(text: string): string {
  return text
    .replace(/\b\d+(?:\.\d+)? m?s\b/g, 'N s')
    .replace(/\b\d+(?= (?:of \d+|checks?|requests?|passed|more))/g, 'N')
    .replace(/\bof \d+/g, 'of N')
    .replace(/at most \d+/g, 'at most N')
    .replace(/\brun [0-9a-f]{8}\b/g, 'run ID')
    .replace(/since \d+ \w{3}/g, 'since DAY');
}
