import { InvalidArgumentError } from 'commander';
import { isDay } from '../config/shape/units.ts';

/** How the text of an option is read. Each throws InvalidArgumentError that says what to give. */

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Give a whole number from 1.');
  return value;
}

export function calendarDay(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('Give a day of the calendar, such as 2027-01-31.');
  return text;
}

/** It becomes a part of the name of a folder, and of a header. */
export function runId(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text))
    throw new InvalidArgumentError('Give up to 64 letters, digits, dots and hyphens.');
  return text;
}

export function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('Give a port, 0 to 65535.');
  return value;
}
