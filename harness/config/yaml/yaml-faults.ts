import type { ErrorCode } from 'yaml';

interface YamlFault {
  readonly problem: string;
  readonly remedy: string;
}

const INDENT = 'give the keys of one block the same number of spaces in front';
const QUOTE = `put the value in quotes; inside { } and [ ] a reference too: "\${env:NAME}"`;

/**
 * What the YAML reader's codes mean for the author of a config. Its own messages are left out: they quote the
 * file, and what stands there may be a key.
 */
const FAULTS: Readonly<Partial<Record<ErrorCode, YamlFault>>> = {
  TAB_AS_INDENT: {
    problem: 'a tab is used to indent',
    remedy: 'YAML wants spaces: replace the tab by spaces',
  },
  BAD_INDENT: { problem: 'the indentation does not fit the block', remedy: INDENT },
  BAD_SCALAR_START: { problem: 'a plain value cannot begin with this character', remedy: QUOTE },
  BLOCK_AS_IMPLICIT_KEY: { problem: 'a second ": " stands in the same value', remedy: QUOTE },
  MULTILINE_IMPLICIT_KEY: {
    problem: 'a key is not followed by ":"',
    remedy: 'write `key: value` on one line',
  },
  MISSING_CHAR: { problem: 'a closing quote, bracket or ":" is missing', remedy: 'close what was opened' },
  UNEXPECTED_TOKEN: { problem: 'this does not fit here', remedy: QUOTE },
  BAD_DQ_ESCAPE: {
    problem: 'unknown escape in a double-quoted value',
    remedy: 'use single quotes, or \\\\ for \\',
  },
  MULTIPLE_DOCS: {
    problem: 'a second YAML document begins here',
    remedy: 'one file holds one document: remove `---`',
  },
  TAG_RESOLVE_FAILED: { problem: 'YAML tags are not understood', remedy: 'remove the `!tag`' },
  NON_STRING_KEY: { problem: 'a key must be plain text', remedy: 'write `key: value`' },
  BAD_DIRECTIVE: { problem: 'unknown YAML directive', remedy: 'remove the line that begins with %' },
  RESOURCE_EXHAUSTION: {
    problem: 'is nested too deeply',
    remedy: 'a config is a few levels deep: see the schema',
  },
};

export function yamlFault(code: ErrorCode): YamlFault {
  return FAULTS[code] ?? { problem: `is not YAML (${code})`, remedy: 'correct the syntax' };
}
