import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Refuses words that make code hard to enter: persons for code and servers, clauses for which English has a noun, and
 * participles or overused nouns as names of types. Also holds the subjects of commits. A part of `npm run lint`, as a
 * script since Biome's plugins see no comments.
 */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Words and phrases, also within longer names, each with plain ones. */
const WORDS: Readonly<Record<string, string>> = {
  whoever: 'the caller, the client, the user',
  whomever: 'the caller, the client, the user',
  nobody: 'no client, no caller, none',
  somebody: 'another client, another process',
  anybody: 'any client, any caller',
  told: 'reported, given, stated',
  'so many': 'the number of',
  'so long': 'milliseconds until, how long',
  'so often': 'the number of times',
  'in vain': 'without a result',
  'put off': 'deferred',
  'puts off': 'defers',
  'came of': 'the result of',
  'comes of': 'the result of',
  conduct: 'behavior',
  'what is': 'a noun',
  'what are': 'a noun',
  'what was': 'a noun',
  'what were': 'a noun',
  'what came': 'a noun, such as the response',
  'what comes': 'a noun, such as the response',
  'what stands': 'a noun, such as the text',
};

/** As the whole name of a type they say nothing. */
const TYPES =
  /^(?:Means|Told|Asked|Kept|Written|Sent|Found|Verdict|Seen|Remains|Heard|Given|Made|Taken|Met)$/;

/** Texts of reports that stay as users know them. */
const KNOWN_TEXTS =
  /What is wrong|as told in |as told of it|ids and what came|rifted from what is accepted|anybody may have|nobody (?:knows why|waited then|would know|had asked|can be asked|set up)|what was left was given|what came without being|what the signature was|what was signed/g;

/** Files that are held to this; the goal is all of them. */
const CLEAN_ROOMS: readonly RegExp[] = [
  /^harness\/(?:base|providers|proof)\//,
  // Those two hold the texts of the schema of results.
  /^harness\/report\/(?!results\/(?:check-result|results)\.ts)/,
  // That file sends a user name with such a word.
  /^harness\/config\/(?!credential\/placing)/,
  /^harness\/cli\//,
  // Messages of these files have such words.
  /^harness\/wire\/(?!limit\/fault\/(?:honesty|longer)|record\/journal|socket\/(?:dial|proxies))/,
  /^harness\/engine\/(?!session\/websocket|check\/expect)/,
  /^harness\/reference\/(?!defects|variants|quota|credentials\.ts)/,
  /^suites\/(?:json|negotiation|pact|status|versioning|[a-z]+\.ts)/,
  /^(?:README|CONTRIBUTING)\.md$/,
  /^config\//,
  /^docs\/(?!judge|products|standards)/,
];

/** This list, what tests alone need, and history. */
const EXEMPT = /\.test\.ts$|\/fixtures\/|^suites\/tests\/|^harness\/cli\/scripts\/words\.ts$|^CHANGELOG/;

/** Subjects of later commits are held to the rules. */
const LAST_FREE_COMMIT = '4c46e528e818a0d364c0ce8bde165ad6327a8d7d';
const LONGEST_SUBJECT = 72;
/** Begins with a verb: no article or pronoun, no plural or third person, no participle. */
const VERB =
  /^(?!(?:A|An|The|It|Its|No|Each|Every|All|What|When|Where|If|In|On|Of|For|There|This)\b)[A-Z][a-z]*(?<!(?<!s)s|(?<![Bb]r)ing|(?<!n|mb|f)ed)\b/;

const files = globSync(['{harness,suites}/**/*.ts', '*.md', '{docs,config}/**/*.md'], { cwd: ROOT })
  .filter((path) => CLEAN_ROOMS.some((room) => room.test(path)) && !EXEMPT.test(path))
  .toSorted();
const patterns = Object.entries(WORDS).map(([phrase, plain]) => ({
  phrase,
  plain,
  pattern: patternOf(phrase),
}));
const declared = new Map<string, string[]>();
const faults: string[] = [];
for (const path of files) {
  // Code blocks of a page show output.
  const blank = (part: string) => part.replaceAll(/./g, ' ');
  const text = readFileSync(`${ROOT}/${path}`, 'utf8')
    .replace(/^```.*?^```/gms, (block) => (path.endsWith('.md') ? blank(block) : block))
    .replace(KNOWN_TEXTS, blank);
  const at = (index: number) => `${path}:${text.slice(0, index).split('\n').length}`;
  for (const { phrase, plain, pattern } of patterns) {
    for (const { index } of text.matchAll(pattern)) faults.push(`${at(index)}: "${phrase}": write ${plain}`);
  }
  if (!path.endsWith('.ts')) continue;
  for (const { index, 1: name = '' } of text.matchAll(
    /^(?:export )?(?:abstract )?(?:type|interface|class) (\w+)/gm,
  )) {
    declared.set(name, [...(declared.get(name) ?? []), at(index)]);
    if (TYPES.test(name)) faults.push(`${at(index)}: the type ${name}: name the thing`);
  }
}
for (const [name, places] of declared) {
  if (places.length > 1) faults.push(`${places.join(', ')}: the type ${name} is declared more than once`);
}
for (const subject of subjects()) {
  if (!VERB.test(subject)) faults.push(`commit "${subject}": begin with a verb, such as Add or Move`);
  if (subject.length > LONGEST_SUBJECT)
    faults.push(`commit "${subject}": ${subject.length} characters, ${LONGEST_SUBJECT} at most`);
}
process.stdout.write(faults.map((fault) => `${fault}\n`).join(''));
process.exitCode = faults.length === 0 ? 0 : 1;

/** The phrase in any case, over the end of a comment line, and as a part of a name in camel case. */
function patternOf(phrase: string): RegExp {
  const [first = '', ...rest] = phrase;
  const tail = rest.join('').replaceAll(' ', '(?:\\s|\\*|//)+');
  const [lower, upper] = [`${first}${tail}`, `${first.toUpperCase()}${tail}`];
  return new RegExp(`(?<![A-Za-z])(?:${lower}|${upper})(?![a-z])|(?<=[a-z])${upper}(?![a-z])`, 'g');
}

/** Of the commits since the rules began; none without their history, as in a shallow clone. */
function subjects(): readonly string[] {
  const range = `${LAST_FREE_COMMIT}..HEAD`;
  try {
    const log = execFileSync('git', ['log', '--no-merges', '--format=%s', range], {
      cwd: ROOT,
      stdio: 'pipe',
    });
    return log.toString().split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
