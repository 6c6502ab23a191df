import { describe, expect, it } from 'vitest';
import { type Annotation, annotate, guard, withoutLogCommands } from './log-commands.ts';

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

describe('an annotation', () => {
  /** What comes out of a guarded stream. */
  function said(act: (stream: NodeJS.WriteStream) => void): string {
    const chunks: string[] = [];
    const stream = { write: (chunk: string) => chunks.push(chunk) > 0 } as unknown as NodeJS.WriteStream;
    guard(stream);
    act(stream);
    return chunks.join('');
  }
  const told = (more: Partial<Annotation> = {}): Annotation => ({
    level: 'error',
    title: 'A wrong key is answered 200',
    message: 'orders: auth.wrong-credential',
    file: 'config/services/orders.yaml',
    line: 15,
    ...more,
  });

  it('passes the guard of the stream, where the same text from elsewhere does not', () => {
    const order =
      '::error file=config/services/orders.yaml,line=15,title=A wrong key is answered 200::orders: auth.wrong-credential\n';
    expect(said((stream) => annotate(stream, [told()]))).toBe(order);
    expect(said((stream) => void stream.write(order))).toBe(`: ${order.slice(1)}`);
  });

  it.each([
    'x\n::set-output name=a::b',
    'x\r\n::stop-commands::y',
    '::add-mask::z',
    'x,file=/etc/passwd::y',
    '100%0A::error::z',
    '##vso[task.complete]',
    '##[error]x',
  ])('is one order, whatever a provider has said: %j', (hostile) => {
    const text = said((stream) => annotate(stream, [told({ title: hostile, message: hostile })]));
    expect(text).toMatch(
      /^::error file=config\/services\/orders\.yaml,line=15,title=[^:,\r\n]*::[^\r\n]*\n$/,
    );
    expect(text).not.toMatch(/##(?:vso)?\[/);
    expect(text.split('::').slice(2).join('::').replaceAll('%25', '')).not.toMatch(/%(?!0A|0D)/);
  });
});
