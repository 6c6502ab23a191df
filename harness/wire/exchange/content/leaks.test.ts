import { describe, expect, it } from 'vitest';
import { findInternals, isInnerHost } from './leaks.ts';

describe('findInternals', () => {
  it.each([
    ['a stack trace', '{"stack":"TypeError: x\\n    at Object.handler (/srv/api/index.js:12:5)\\n"}'],
    ['a stack trace', '    at async file:///srv/api/index.js:12:5'],
    ['a stack trace', 'at com.example.api.Handler.get(Handler.java:42)'],
    ['a stack trace', 'Traceback (most recent call last):\n  File "/x.py", line 3'],
    ['a stack trace', 'goroutine 17 [running]:'],
    ['a stack trace', 'at Api.Get() in C:\\\\src\\\\Api.cs:line 12'],
    ['a stack trace', "app/models/user.rb:12:in `find'"],
    ['an SQL error', '{"error":"SQLSTATE[42000]: Syntax error"}'],
    ['an SQL error', 'ERROR: syntax error at or near "\'"'],
    ['an SQL statement', 'SELECT * FROM users WHERE id = 1'],
    ['a file path', '{"detail":"ENOENT: /var/lib/api/secrets.conf"}'],
    ['a file path', 'D:\\\\inetpub\\\\wwwroot\\\\web.config'],
    ['a product version', '<center>nginx/1.22.1</center>'],
  ])('finds %s in %j', (what, text) => {
    expect(findInternals(text)).toContain(what);
  });

  it.each([
    '{"title":"Not Found","status":404,"instance":"/v1/resources/1"}',
    '{"error":"select a plan from the list where you live"}',
    '{"docs":"https://api.example/app/main.js","see":"http://api.example/var/x.conf"}',
    '<script src="/app/main.js"></script>',
    '{"detail":"look at the docs (section 3:2:1)"}',
    '<center>nginx</center>',
  ])('finds nothing in %j', (text) => {
    expect(findInternals(text)).toBeNull();
  });
});

describe('a host of an inner network', () => {
  it.each([
    '10.1.2.3',
    '192.168.0.9',
    '127.0.0.1',
    '[fd00::1]',
    '[::1]',
    'backend',
    'db.internal',
    'nas.local',
    'localhost',
  ])('is %s', (host) => expect(isInnerHost(host)).toBe(true));

  it.each(['api.example.com', '8.8.8.8', '[2001:db8::1]', 'internal.example', '11.0.0.1'])(
    'is not %s',
    (host) => expect(isInnerHost(host)).toBe(false),
  );
});
