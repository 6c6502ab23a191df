import { describe, expect, it } from 'vitest';
import { UsageError } from '../../base/exit.ts';
import { withOverlays } from './document-overlay.ts';
import { sourceOf } from './source.ts';

const DOCUMENT = `openapi: 3.1.1
info: { title: Orders, version: '1' }
tags: [a, b, dummy]
paths:
  /orders:
    get:
      operationId: list
      parameters:
        - { name: dummy, in: query }
        - { name: limit, in: query }
    delete: { operationId: purge }
  /orders/{id}:
    get: { operationId: one }
`;

const applied = (actions: string, version = '1.1.0') =>
  withOverlays(sourceOf(DOCUMENT, '/api.yaml', 'api.yaml'), [
    sourceOf(`overlay: ${version}\nactions:\n${actions}\n`, '/staging.yaml', 'staging.yaml'),
  ]);
// biome-ignore lint/suspicious/noExplicitAny: any part of the result
const rootOf = async (actions: string): Promise<any> => (await applied(actions)).root;

async function faultOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown) => thrown,
  );
  if (!(error instanceof UsageError)) throw error ?? new Error('it was applied');
  return `${error.place?.file}:${error.place?.line} ${error.problem}`;
}

describe('an overlay', () => {
  it('removes members and items, wherever a filter finds them', async () => {
    const root = await rootOf(`- { target: "$.paths.*.delete", remove: true }
- { target: "$..parameters[?@.name == 'dummy']", remove: true }
- { target: "$.tags[?@ == 'dummy']", remove: true }`);
    expect(Object.keys(root.paths['/orders'])).toEqual(['get']);
    expect(root.paths['/orders'].get.parameters).toEqual([{ name: 'limit', in: 'query' }]);
    expect(root.tags).toEqual(['a', 'b']);
  });

  it('merges mappings, concatenates lists and replaces single values', async () => {
    const root = await rootOf(`- target: $
  update: { info: { version: '2', x-new: [1] }, tags: [c] }
- { target: "$.tags", update: d }
- { target: "$.paths['/orders'].get.operationId", update: listOrders }
- { target: "$.paths['/orders/{id}'].get", copy: "$.paths['/orders'].get" }`);
    expect(root.info).toEqual({ title: 'Orders', version: '2', 'x-new': [1] });
    expect(root.tags).toEqual(['a', 'b', 'dummy', 'c', 'd']);
    expect(root.paths['/orders'].get.operationId).toBe('listOrders');
    expect(root.paths['/orders/{id}'].get).toEqual(root.paths['/orders'].get);
  });

  it('applies its actions in their order, to the result of those before', async () => {
    const root = await rootOf(`- { target: "$.paths['/orders']", remove: true }
- { target: "$.paths", update: { /orders: { get: { operationId: anew } } } }
- { target: "$.paths['/orders'].get", update: { deprecated: true } }`);
    expect(root.paths['/orders']).toEqual({ get: { operationId: 'anew', deprecated: true } });
  });

  it('leaves each value at its place: in the document, or in the overlay', async () => {
    const { placeOf } = await applied(`- { target: "$.paths['/orders'].get.parameters[0]", remove: true }
- target: "$.paths['/orders']"
  update:
    post: { operationId: create }`);
    const at = ['paths', '/orders'];
    expect(placeOf([...at, 'get', 'parameters', '0'])).toMatchObject({ file: 'api.yaml', line: 10 });
    expect(placeOf([...at, 'post'])).toMatchObject({ file: 'staging.yaml', line: 6 });
    expect(placeOf([...at, 'get', 'operationId'])).toMatchObject({ file: 'api.yaml', line: 7 });
  });

  it('sets no prototype', async () => {
    const root = await rootOf(`- target: $.info\n  update: { __proto__: { polluted: true } }`);
    expect(root.info.polluted).toBeUndefined();
    expect(Object.hasOwn(root.info, '__proto__')).toBe(true);
  });

  it.each([
    [
      `- { target: "$.paths['/order'].get", remove: true }`,
      /selects nothing in api.yaml: did you mean \$\.paths\['\/orders'\]\.get/,
    ],
    ['- { target: "$.paths.[", remove: true }', /is no JSONPath \(RFC 9535\)/],
    ['- { target: $.info }', /changes nothing/],
    ['- { target: $.info, update: [1] }', /is no mapping/],
    ['- { target: $.info.title, update: { a: 1 } }', /is no single value/],
    ['- { target: $, update: { tags: { a: 1 } } }', /is a mapping, and a list in the document/],
    ['- { target: $, remove: true }', /removes the whole document/],
    ['- { target: $.info, copy: "$.paths.*" }', /selects 2 values/],
    ['- 7', /is no action/],
  ])('is refused at its line: %s', async (actions, problem) => {
    expect(await faultOf(applied(actions))).toMatch(new RegExp(`^staging.yaml:3 .*${problem.source}`));
  });

  it('is refused in another version, or without actions', async () => {
    expect(await faultOf(applied('- { target: $, update: {} }', '2.0.0'))).toMatch(/is no overlay/);
    const none = withOverlays(sourceOf(DOCUMENT, '/api.yaml', 'api.yaml'), [
      sourceOf('overlay: 1.0.0\nactions: []\n', '/staging.yaml', 'staging.yaml'),
    ]);
    expect(await faultOf(none)).toMatch(/has no actions/);
  });
});
