import { visible } from '../../octets/utf8.ts';
import { FieldReader } from '../grammar/field-grammar.ts';

/** One challenge of WWW-Authenticate (RFC 9110 §11.3). */
interface Challenge {
  /** As sent; schemes are compared case-insensitively (§11.1). */
  readonly scheme: string;
  /** `token68` form; null when there are parameters or nothing. */
  readonly token68: string | null;
  /** Names in lower case, of several with one name the first. */
  readonly parameters: ReadonlyMap<string, string>;
}

export interface ChallengeReading {
  readonly challenges: readonly Challenge[];
  /** Where the field breaks RFC 9110, one line each; empty when it does not. At most 20. */
  readonly faults: readonly string[];
  /** Where a challenge breaks the rules of its own scheme, one line each: Basic without a realm (RFC 7617 §2),
   * Bearer without any parameter (RFC 6750 §3). */
  readonly cautions: readonly string[];
}

const MOST_FAULTS = 20;
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y;
const PARAMETER_AHEAD = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=/y;

/**
 * Reads the WWW-Authenticate field lines of a response (RFC 9110 §11.6.1): any number of challenges on each line,
 * where the comma between challenges looks like the one between parameters. After a fault it goes on behind the
 * next comma.
 */
export function parseChallenges(lines: readonly string[]): ChallengeReading {
  const reader = new ChallengeReader(lines.join(', '));
  if (lines.length > 0) reader.read();
  return { challenges: reader.challenges, faults: reader.faults, cautions: cautionsOf(reader.challenges) };
}

interface OpenChallenge extends Challenge {
  readonly parameters: Map<string, string>;
}

class ChallengeReader {
  readonly challenges: OpenChallenge[] = [];
  readonly faults: string[] = [];
  readonly #field: FieldReader;

  constructor(value: string) {
    this.#field = new FieldReader(value);
  }

  read(): void {
    const field = this.#field;
    while (true) {
      field.skipSpace();
      if (field.takeChar(',')) continue;
      if (field.done) break;
      this.#readElement();
      field.skipSpace();
      if (!field.done && field.next !== ',') {
        this.#fault(`${field.rest()} where a comma or the end should be`);
        field.skipElement();
      }
    }
    if (this.challenges.length === 0 && this.faults.length === 0) this.#fault('an empty one');
  }

  /** A parameter of the challenge before, or a challenge with its first parameter. */
  #readElement(): void {
    const field = this.#field;
    const current = this.challenges.at(-1);
    if (this.#parameterAhead()) {
      if (current && current.token68 === null) this.#readParameter(current);
      else this.#fault(`a parameter without a scheme before it: ${field.rest()}`, true);
      return;
    }
    const scheme = field.token();
    if (scheme === null) {
      this.#fault(`${field.rest()} where an authentication scheme should be`, true);
      return;
    }
    const hasSpace = field.next === ' ';
    while (field.takeChar(' '));
    const token68 = hasSpace ? field.take(TOKEN68) : null;
    const challenge: OpenChallenge = { scheme, token68, parameters: new Map() };
    this.challenges.push(challenge);
    if (hasSpace && token68 === null && this.#parameterAhead()) this.#readParameter(challenge);
  }

  #parameterAhead(): boolean {
    const start = this.#field.at;
    const ahead = this.#field.take(PARAMETER_AHEAD) !== null;
    this.#field.at = start;
    return ahead;
  }

  /** §11.2: `token BWS "=" BWS ( token / quoted-string )`. */
  #readParameter(challenge: OpenChallenge): void {
    const field = this.#field;
    const name = field.token()?.toLowerCase() ?? '';
    field.skipSpace();
    field.takeChar('=');
    field.skipSpace();
    const isQuoted = field.next === '"';
    const value = field.word();
    if (value === null) {
      this.#fault(`${field.rest()} after ${name}=, where a token or a quoted-string should be`, true);
      return;
    }
    if (challenge.parameters.has(name)) {
      this.#fault(`the parameter ${name} of ${challenge.scheme} twice`);
      return;
    }
    challenge.parameters.set(name, value);
    // §11.5: for the sake of old recipients a realm is sent as a quoted-string only.
    if (name === 'realm' && !isQuoted)
      this.#fault(`a realm of ${challenge.scheme} that is not a quoted-string`);
  }

  #fault(message: string, skip = false): void {
    if (this.faults.length < MOST_FAULTS) this.faults.push(visible(message, 200));
    if (skip) this.#field.skipElement();
  }
}

function cautionsOf(challenges: readonly Challenge[]): readonly string[] {
  const all = challenges.flatMap(({ scheme, parameters }) => {
    if (/^basic$/i.test(scheme) && !parameters.has('realm')) return ['Basic without a realm'];
    if (/^bearer$/i.test(scheme) && parameters.size === 0) return ['Bearer without any parameter'];
    return [];
  });
  return all.slice(0, MOST_FAULTS);
}
