import { describe, expect, it } from 'vitest';
import { HOSTILE } from '../../fixtures/sample-evidence.ts';
import { html, trusted } from './markup.ts';

describe('html', () => {
  it('escapes every text, in content and in attributes', () => {
    const text = '<b title="x">\'&';
    expect(String(html`<p title="${text}">${text}</p>`)).toBe(
      '<p title="&lt;b title=&quot;x&quot;&gt;&#39;&amp;">&lt;b title=&quot;x&quot;&gt;&#39;&amp;</p>',
    );
  });

  it('puts in markup as it is, lists one after the other, and nothing for nothing', () => {
    const items = ['a', '<'].map((item) => html`<li>${item}</li>`);
    expect(String(html`<ul>${items}${null}${undefined}${false}${0}</ul>`)).toBe(
      '<ul><li>a</li><li>&lt;</li>0</ul>',
    );
    expect(String(html`<style>${trusted('a > b {}')}</style>`)).toBe('<style>a > b {}</style>');
  });

  it('writes out what could hide or reorder text', () => {
    expect(String(html`${HOSTILE}`).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    expect(String(html`${HOSTILE}`)).not.toMatch(/[<>"']/);
  });

  it('does not take text for markup because it says so', () => {
    const forged = { toString: () => '<b>' };
    expect(String(html`${String(forged)}`)).toBe('&lt;b&gt;');
  });
});
