import { describe, expect, it } from 'vitest';
import { listDefects, listVariants } from '../reference/catalogue.ts';
import { furtherCases, proofCases } from './cases.ts';
import { settingNamed } from './settings.ts';

const cases = proofCases();

describe('the cases of the proof', () => {
  it('are every defect once, and every variant alone and together with others', () => {
    const defects = cases.filter(({ kind }) => kind === 'defect').map(({ name }) => name);
    expect(defects.sort()).toEqual(
      listDefects()
        .map(({ name }) => name)
        .sort(),
    );
    const variants = cases.filter(({ kind }) => kind === 'variant').map(({ name }) => name);
    const together = new Set(
      variants.filter((name) => name.includes('+')).flatMap((name) => name.split('+')),
    );
    for (const { name } of listVariants()) {
      expect(variants).toContain(name);
      expect(together).toContain(name);
    }
  });

  it('are each held under a setting that there is', () => {
    for (const { setting } of [...cases, ...furtherCases()]) expect(settingNamed(setting).name).toBe(setting);
  });

  it('are held once each, further services and settings included', () => {
    const all = [...cases, ...furtherCases()].map(({ kind, name, service, setting }) =>
      [kind, name, service, setting].join(' '),
    );
    expect(all.filter((each, at) => all.indexOf(each) !== at)).toEqual([]);
    expect(furtherCases().length).toBeGreaterThan(50);
  });

  it('are plain data, so that one process can tell another of them', () => {
    expect(structuredClone(cases)).toEqual(cases);
    expect(JSON.parse(JSON.stringify(cases))).toEqual(cases);
  });
});
