import type { Service } from '../behavior/behavior.ts';
import { problem, served } from '../http/answer.ts';
import { objectIn, queryParameters } from '../http/message.ts';
import { savedSearches } from './saved-searches.ts';
import { type Search, searchOfBody, searchOfQuery } from './search-input.ts';

/** One entry of a catalogue of resources; `id` is its last path segment. */
export interface Resource {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly [attribute: string]: unknown;
}

const COLLECTION = '/v1/resources';
const MATCHES = '/v1/matches';

function linked(resource: Resource): object {
  return { ...resource, links: { self: `${COLLECTION}/${resource.id}`, collection: COLLECTION } };
}

/** Those that a search is after; all of them for an empty one. */
function found(resources: readonly Resource[], { text, kind, pageSize }: Search): readonly Resource[] {
  return resources
    .filter((resource) => kind === null || resource.type === kind)
    .filter(({ name }) => text === null || name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, pageSize ?? resources.length);
}

/**
 * A service with the one documented request, `GET /v1/resources`, what its links lead to, and a few further
 * operations that `config/openapi/search.yaml` describes: the list takes `kind` and `pageSize`, and `/v1/matches`
 * finds resources by a text, in the query or in a JSON body.
 */
export function restService(name: string, resources: readonly Resource[]): Service {
  const matches = (search: Search) =>
    served({ matches: found(resources, search).map(linked), text: search.text, kind: search.kind });
  return {
    name,
    routes: [
      {
        template: COLLECTION,
        credential: 'any',
        methods: {
          GET: ({ request }) => {
            const search = searchOfQuery(queryParameters(request.query));
            if (search === null) return problem('invalid-parameter');
            const listed = found(resources, search);
            return served(
              { resources: listed.map(linked), total: listed.length, links: { self: COLLECTION } },
              [['Link', `<${COLLECTION}>; rel="self"`]],
            );
          },
        },
      },
      {
        template: `${COLLECTION}/:id`,
        credential: 'any',
        methods: {
          GET: ({ parameters }) => {
            const resource = resources.find(({ id }) => id === parameters.id);
            return resource === undefined
              ? problem('not-found')
              : served(linked(resource), [['Link', `<${COLLECTION}>; rel="collection"`]]);
          },
        },
      },
      {
        template: MATCHES,
        credential: 'any',
        methods: {
          GET: ({ request }) => {
            const search = searchOfQuery(queryParameters(request.query));
            return search?.text ? matches(search) : problem('invalid-parameter');
          },
          POST: ({ request }) => {
            const body = objectIn(request);
            const search = body === null ? null : searchOfBody(body);
            return search?.text ? matches(search) : problem('invalid-content');
          },
        },
      },
      ...savedSearches(),
    ],
    sockets: [],
  };
}
