/** Small files that are what their media type says: many services look into what they are sent. */

export interface SampleFile {
  /** The type itself if a range of types is asked for. */
  readonly mediaType: string;
  /** Of its name, without a dot. */
  readonly extension: string;
  /** A character for each octet (latin1). */
  readonly octets: string;
}

/** One white pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg==';
const GIF = 'R0lGODdhAQABAIEAAP///wAAAAAAAAAAACwAAAAAAQABAAAIBAABBAQAOw==';
const WEBP = 'UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAfQ//73v/+BiOh/AAA=';
const JPEG =
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////' +
  '////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8A' +
  'a//Z';
/** `conform.txt`, in which is `conform`. */
const ZIP =
  'UEsDBBQAAAAAAAAAIQD2316LBwAAAAcAAAALAAAAY29uZm9ybS50eHRjb25mb3JtUEsBAhQDFAAAAAAAAAAhAPbfXosHAAAABwAAAAsA' +
  'AAAAAAAAAAAAAIABAAAAAGNvbmZvcm0udHh0UEsFBgAAAAABAAEAOQAAADAAAAAAAA==';
const GZIP = 'H4sIAAAAAAACA0vOz0vLL8oFAPbfXosHAAAA';

const FILES: readonly SampleFile[] = [
  { mediaType: 'image/png', extension: 'png', octets: decoded(PNG) },
  { mediaType: 'image/jpeg', extension: 'jpg', octets: decoded(JPEG) },
  { mediaType: 'image/gif', extension: 'gif', octets: decoded(GIF) },
  { mediaType: 'image/webp', extension: 'webp', octets: decoded(WEBP) },
  {
    mediaType: 'image/svg+xml',
    extension: 'svg',
    octets: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>\n',
  },
  { mediaType: 'application/pdf', extension: 'pdf', octets: emptyPage() },
  { mediaType: 'application/zip', extension: 'zip', octets: decoded(ZIP) },
  { mediaType: 'application/gzip', extension: 'gz', octets: decoded(GZIP) },
  // POSIX, pax: two blocks of zeros end an archive.
  { mediaType: 'application/x-tar', extension: 'tar', octets: '\0'.repeat(1024) },
  { mediaType: 'text/csv', extension: 'csv', octets: 'id,name\r\n1,conform\r\n' },
];

const OTHER_NAMES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/*': 'image/png',
  'application/x-zip-compressed': 'application/zip',
  'application/x-gzip': 'application/gzip',
};

/** null if no file of that type is known. */
export function sampleFile(mediaType: string): SampleFile | null {
  const [essence = ''] = mediaType.toLowerCase().split(';', 1);
  const name = OTHER_NAMES[essence.trim()] ?? essence.trim();
  return FILES.find((each) => each.mediaType === name) ?? null;
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('latin1');
}

/** ISO 32000-1 §7.5: the offset of each object is listed behind them. */
function emptyPage(): string {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>',
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj${object}endobj\n`;
    return `${`${offset}`.padStart(10, '0')} 00000 n \n`;
  });
  const entries = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  return `${text}${entries}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
}
