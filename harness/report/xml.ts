import { stripVTControlCharacters } from 'node:util';
import { cut } from './results/plain.ts';

/** XML 1.0 §2.2 Char: everything else cannot stand in a document, not even as a reference. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** `longest` counts UTF-16 units before escaping. */
function legal(text: string, longest: number): string {
  const near = cut(text, longest * 2).toWellFormed();
  return cut(stripVTControlCharacters(near).replace(NOT_XML, '\ufffd'), longest);
}

/** Character data; `>` is escaped too, so that `]]>` cannot appear. */
function xmlText(text: string, longest: number): string {
  return legal(text, longest).replace(/[&<>\r]/g, (character) => REFERENCES[character] ?? character);
}

/** An attribute's value; white space as references, or a parser would turn it into blanks (XML 1.0 §3.3.3). */
function xmlAttribute(text: string, longest: number): string {
  return legal(text, longest).replace(/[&<>"\t\n\r]/g, (character) => REFERENCES[character] ?? character);
}

/** Caps in UTF-16 units: what CI servers take without cutting it themselves. */
const ATTRIBUTE_CAP = 2_048;
const TEXT_CAP = 16_384;

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children?: readonly Element[];
  /** Character data; an element has either this or children. */
  readonly text?: string;
}

function renderElement({ name, attributes, children = [], text = '' }: Element, indent = ''): string {
  const pairs = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${xmlAttribute(String(value), ATTRIBUTE_CAP)}"`,
  );
  const open = `${indent}<${name}${pairs.join('')}`;
  if (children.length > 0) {
    const inner = children.map((child) => renderElement(child, `${indent}  `)).join('\n');
    return `${open}>\n${inner}\n${indent}</${name}>`;
  }
  return text === '' ? `${open}/>` : `${open}>${xmlText(text, TEXT_CAP)}</${name}>`;
}

export function renderDocument(root: Element): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${renderElement(root)}\n`;
}
