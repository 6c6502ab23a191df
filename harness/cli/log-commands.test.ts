import { describe, expect, it } from 'vitest';
import { withoutLogCommands } from './log-commands.ts';

describe('what is said to a log', () => {
  it.each([
    ['::error::x', ': :error::x'],
    ['ok\n  ::set-output name=a::b', 'ok\n  : :set-output name=a::b'],
    ['ok\r::stop-commands::x', 'ok\r: :stop-commands::x'],
    ['\u2028::add-mask::x', '\u2028: :add-mask::x'],
    ['\x1b[2m\t::debug::x', '\x1b[2m\t: :debug::x'],
    ['got ##[error]x', 'got # #[error]x'],
    ['###[group]x', '## #[group]x'],
    ['→ ##vso[task.setvariable variable=a]b', '→ # #vso[task.setvariable variable=a]b'],
    ['##VSO[task.complete]', '# #VSO[task.complete]'],
    ["##teamcity[buildStop comment='x']", "# #teamcity[buildStop comment='x']"],
  ])('%j is no order to it', (said, shown) => {
    expect(withoutLogCommands(said)).toBe(shown);
    expect(withoutLogCommands(shown)).toBe(shown);
  });

  it.each(['http://[::1]:80/', 'a :: b', '## heading', '#[x]', ': :'])('leaves %j alone', (said) => {
    expect(withoutLogCommands(said)).toBe(said);
  });
});
