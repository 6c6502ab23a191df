import { suite } from '../harness/check/check.ts';
import { mediaTypes } from './json/media-types.ts';
import { shapes } from './json/shapes.ts';
import { texts } from './json/texts.ts';

export const json = suite('json', 'JSON', [...mediaTypes, ...texts, ...shapes]);
