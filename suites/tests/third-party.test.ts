import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LocalServer } from '../../harness/base/fixtures/server.ts';
import { mayUse } from '../../harness/engine/fixtures/system-tools.ts';
import { functional } from '../catalogue.ts';
import { HAPROXY, NGINX } from '../limits/stimuli/fixtures/proxies.ts';
import { HTTP_SERVERS, haproxy, nginx, proxiedExpress } from './fixtures/http-servers.ts';
import { configFor, judged, judgedInTurn, raised } from './fixtures/judged.ts';

/**
 * Servers that have nothing to do with the reference provider, each with the few lines that its documents show.
 * Every finding is listed, and true: why is said beside it. What is not listed is silence, and must stay so.
 */
const SUITES = functional;

interface Target {
  readonly start: () => Promise<LocalServer>;
  readonly open?: true;
  /** A program of its own, in its own time. */
  readonly apart?: true;
  readonly findings: Readonly<Record<string, 'fail' | 'warning' | 'blocked'>>;
}

/** It takes one space behind the scheme for the only one. */
const ONE_SPACE = { 'auth.scheme-spacing': 'warning' } as const;

/** nginx: a tab is a part of the value in front of which it stands. */
const NO_TABS = { 'framing.tabbed-values': 'fail' } as const;

/** What most services have whose HTTP server is Node's. */
const NODE = {
  ...ONE_SPACE,
  // It heeds the first of two Host fields, and looks into none of them.
  'framing.two-hosts': 'fail',
  'framing.invalid-host': 'fail',
  // It takes chunks of an HTTP/1.0 client and keeps the connection, and any coding as long as chunked is the last.
  'framing.old-chunks': 'fail',
  'framing.unknown-coding': 'warning',
  'headers.nosniff': 'warning',
} as const;

/** What is not known is told in HTML, or in plain text. */
const PROSE = {
  'json.error-media-type': 'fail',
  'json.server-error-media-type': 'blocked',
  'headers.nosniff': 'warning',
} as const;

const TARGETS: Readonly<Record<string, Target>> = {
  fastify: {
    start: HTTP_SERVERS.fastify,
    findings: {
      ...NODE,
      // The hook compares the whole field, scheme included, as many do.
      'auth.scheme-case': 'fail',
    },
  },

  express: {
    start: HTTP_SERVERS.express,
    findings: {
      ...NODE,
      // The middleware sends 401 and no WWW-Authenticate, as nearly every example of it does.
      'auth.challenge': 'fail',
      // Whatever has no route ends at the default handler, in HTML.
      ...PROSE,
    },
  },

  hono: {
    start: HTTP_SERVERS.hono,
    findings: {
      // Its bearerAuth middleware says "Unauthorized" in plain text.
      'auth.refusal-json': 'fail',
      'framing.two-hosts': 'fail',
      // Its own URL refuses the bad Host.
      'framing.unknown-coding': 'warning',
    },
  },

  'hono, compressing': {
    start: HTTP_SERVERS['hono, compressing'],
    findings: {
      'auth.refusal-json': 'fail',
      'framing.two-hosts': 'fail',
      'framing.old-chunks': 'fail',
      'framing.unknown-coding': 'warning',
      'headers.nosniff': 'warning',
      // The 304 of etag() and the answer to HEAD have no content, so compress() leaves them without its Vary.
      'caching.not-modified-fields': 'fail',
      'status.head-equals-get': 'warning',
    },
  },

  koa: {
    start: HTTP_SERVERS.koa,
    findings: {
      ...NODE,
      // What is thrown is told in plain text, and so is whatever no middleware has answered.
      'auth.refusal-json': 'blocked',
      ...PROSE,
    },
  },

  nestjs: {
    start: HTTP_SERVERS.nestjs,
    findings: {
      ...NODE,
      // UnauthorizedException knows of no challenge.
      'auth.challenge': 'fail',
    },
  },

  'json-server': {
    start: HTTP_SERVERS['json-server'],
    open: true,
    findings: {
      // HEAD of a collection is answered 400.
      'status.head': 'warning',
      // The 204 to OPTIONS has `Content-Length: 0`, which RFC 9110 §8.6 forbids.
      'status.no-content': 'fail',
      'framing.two-hosts': 'fail',
      'framing.invalid-host': 'fail',
      'framing.unknown-coding': 'warning',
      // A malformed path is explained in plain text.
      'json.server-error-media-type': 'warning',
      'headers.nosniff': 'warning',
      // It knows no versions; the prefix was only taken away before it.
      'versioning.without-prefix': 'warning',
    },
  },

  ...(mayUse(NGINX) && {
    nginx: {
      start: nginx,
      apart: true,
      findings: {
        ...ONE_SPACE,
        ...NO_TABS,
        // A tab behind the value stays in what `if` compares.
        'auth.credential-spacing': 'fail',
        // `if` compares the whole field.
        'auth.scheme-case': 'fail',
        // `return 401` sends no challenge.
        'auth.challenge': 'fail',
        // `return` answers whatever the method is.
        'status.unknown-method': 'warning',
        // `server_tokens` is on: the version stands in the Server field and in every error page.
        'status.no-internals': 'warning',
        'headers.no-product-version': 'warning',
        // Error pages are HTML.
        ...PROSE,
      },
    } satisfies Target,
    'nginx before express': {
      start: proxiedExpress,
      apart: true,
      findings: {
        ...ONE_SPACE,
        ...NO_TABS,
        'auth.challenge': 'fail',
        // Express explains in HTML what it does not know, nginx what it does not take.
        ...PROSE,
        // `gzip on` compresses, and `gzip_vary` is off unless it is set.
        'negotiation.coding-vary': 'warning',
      },
    } satisfies Target,
  }),

  ...(mayUse(HAPROXY) && {
    haproxy: {
      start: haproxy,
      apart: true,
      findings: {
        ...ONE_SPACE,
        // What `http-request return` sends has no Date, and is sent whatever the method is.
        'headers.date': 'warning',
        'status.unknown-method': 'warning',
        // It wants a Host from no one, but not two of them.
        'framing.missing-host': 'fail',
        // Nor does it look into it.
        'framing.invalid-host': 'fail',
        // What is too large is refused in HTML.
        'json.server-error-media-type': 'warning',
        'headers.nosniff': 'warning',
      },
    } satisfies Target,
  }),
};

beforeAll(() => {
  // tinyhttp, which json-server rests on, logs what a malformed path throws.
  vi.spyOn(console, 'error').mockReturnValue(undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
});

describe.concurrent('of another', () => {
  it.each(Object.entries(TARGETS))(
    '%s, what is known is found, and nothing else',
    async (_name, { start, open, apart, findings }) => {
      const { url, stop } = await start();
      const config = await configFor(url, open);
      const judging = apart ? judged(config, SUITES) : judgedInTurn(config, SUITES);
      expect(raised(await judging.finally(stop))).toEqual(findings);
    },
  );
});
