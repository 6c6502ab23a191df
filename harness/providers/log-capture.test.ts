import { describe, expect, it } from 'vitest';
import { createLogCapture, withLastLines } from './log-capture.ts';

const octets = (text: string) => Buffer.from(text, 'utf8');

describe('what a provider writes', () => {
  it('is kept line by line, however it is cut up on its way', () => {
    const logs = createLogCapture();
    const write = logs.writer();
    for (const octet of octets('größer\r\nzwei\n\ndrei')) write(Buffer.from([octet]));
    expect(logs.text()).toBe('größer\nzwei\n\ndrei');
  });

  it('does not run together when two streams write at once', () => {
    const logs = createLogCapture();
    const [out, err] = [logs.writer(), logs.writer()];
    out(octets('half a '));
    err(octets('warning\n'));
    out(octets('line\n'));
    expect(logs.text()).toBe('warning\nhalf a line');
  });

  it('is kept from its beginning and its end when there is too much', () => {
    const logs = createLogCapture();
    const write = logs.writer();
    for (let line = 1; line <= 10_000; line += 1) write(octets(`line ${line}\n`));
    const kept = logs.text().split('\n');
    expect(kept).toHaveLength(1_201);
    expect(kept.slice(199, 202)).toEqual(['line 200', '… 8800 lines left out …', 'line 9001']);
    expect(kept.at(-1)).toBe('line 10000');
  });

  it('is cut where a line does not end', () => {
    const logs = createLogCapture();
    const write = logs.writer();
    for (let times = 0; times < 1_000; times += 1) write(octets('x'.repeat(10_000)));
    write(octets('\nnext\n'));
    const [long = '', next] = logs.text().split('\n');
    expect([long.length, next]).toEqual([2_001, 'next']);
  });

  it('is searched for lines as they come, those that are left out too', () => {
    const logs = createLogCapture();
    const write = logs.writer();
    write(octets('ready once\n'));
    const seen = logs.watch('ready');
    expect(seen()).toBe(1);
    for (let line = 0; line < 5_000; line += 1) write(octets('ready\n'));
    write(octets('ready'));
    expect(seen()).toBe(5_002);
  });

  it('is quoted by its last lines, without stack frames', () => {
    const logs = createLogCapture();
    logs.writer()(octets('one\nError: no index\n    at open (index.js:1:1)\n\n'));
    expect(withLastLines('it ended', logs)).toBe('it ended; its last lines: one | Error: no index');
    expect(withLastLines('it ended', createLogCapture())).toBe('it ended; it wrote nothing');
  });
});
