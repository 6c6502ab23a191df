import type { FieldLine } from '../../evidence/exchange.ts';
import { isToken, trimSpace } from '../../evidence/fields/grammar/field-grammar.ts';
import { FRAMING_FAULT, type FramingFault } from './framing-faults.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for (RFC 9110 §5.5)
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** Collects the lines of one header or trailer section as they come, naming what is wrong with each. */
export class FieldSection {
  readonly #lines: FieldLine[] = [];
  readonly #fault: (fault: FramingFault) => void;

  constructor(fault: (fault: FramingFault) => void) {
    this.#fault = fault;
  }

  /** The section so far: names as received, values without the white space around them. */
  get lines(): readonly FieldLine[] {
    return this.#lines;
  }

  /** Takes one line, as latin1 text without its line end. */
  add(line: string): void {
    if (/^[ \t]/.test(line)) {
      this.#addContinuation(line);
      return;
    }
    const colon = line.indexOf(':');
    if (colon === -1) this.#fault(FRAMING_FAULT.noColon);
    const rawName = colon === -1 ? line : line.slice(0, colon);
    const name = trimSpace(rawName);
    if (name !== rawName) this.#fault(FRAMING_FAULT.spaceBeforeColon);
    if (!isToken(name)) this.#fault(FRAMING_FAULT.badFieldName);
    const value = colon === -1 ? '' : trimSpace(line.slice(colon + 1));
    this.#checkValue(value);
    this.#lines.push([name, value]);
  }

  /** RFC 9112 §5.2: a folded line counts as one space and more of the value before. */
  #addContinuation(line: string): void {
    const last = this.#lines.pop();
    if (!last) {
      this.#fault(FRAMING_FAULT.spaceBeforeFirstField);
      return;
    }
    this.#fault(FRAMING_FAULT.obsFold);
    const more = trimSpace(line);
    this.#checkValue(more);
    this.#lines.push([last[0], `${last[1]} ${more}`]);
  }

  #checkValue(value: string): void {
    if (value.includes('\0')) this.#fault(FRAMING_FAULT.nul);
    if (CONTROL.test(value.replaceAll('\0', ''))) this.#fault(FRAMING_FAULT.badFieldValue);
  }
}
