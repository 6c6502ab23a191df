/** What a defect does to checks of suites that do not name it, and why it cannot help doing so. */
export interface Consequence {
  readonly defects: readonly string[];
  /** Ids of checks; one that stands for several things of the config stands for all of them. */
  readonly trips: readonly string[];
  readonly because: string;
}

export const CONSEQUENCES: readonly Consequence[] = [
  {
    defects: [
      'content-type-on-get-415',
      'content-length-too-long',
      'bare-line-feeds',
      'bad-chunk-size',
      'prefix-redirects',
      'redirect-to-other-host',
    ],
    trips: ['status.sample', 'pact.interaction'],
    because: 'the documented sample is no longer served in a form that clients can read',
  },
  {
    defects: ['content-is-html-everywhere'],
    trips: ['pact.interaction', 'auth.refusal-json'],
    because: 'the documented sample and the refusals are HTML as well',
  },
  {
    defects: ['errors-are-empty'],
    trips: ['auth.refusal-json'],
    because: 'refusals are errors, too',
  },
  {
    defects: ['refusal-is-html'],
    trips: ['json.error-media-type'],
    because: 'refusals are errors, too',
  },
  {
    defects: ['flapping-status'],
    trips: ['json.shape-stable'],
    because: 'an error has another shape than the resource in whose place it comes',
  },
  {
    defects: ['bytes-after-body'],
    trips: ['status.head-no-content'],
    because: 'the answer to HEAD ends with its head: whatever follows is content',
  },
  {
    defects: ['error-in-200'],
    trips: ['framing.spaced-field-name', 'framing.missing-host', 'framing.two-hosts'],
    because: 'a malformed request is refused with 200 like any other',
  },
  {
    defects: ['json-no-content-type', 'malformed-content-type'],
    trips: ['json.success-media-type'],
    because: 'the label is missing or unreadable, and so is not that of JSON',
  },
  {
    defects: ['content-length-too-short'],
    trips: ['json.syntax'],
    because: 'the content ends where its length says, in the middle of the JSON',
  },
];
