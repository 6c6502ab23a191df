import type { JsonObject } from '../../base/json-text.ts';
import { type Lifecycle, lifecyclesOf } from '../../config/operation/lifecycle.ts';
import type { Operation, ServiceConfig } from '../../config/service.ts';
import { SchemaBook } from '../../wire/json/schema.ts';
import { entityTagOf } from '../behavior/preconditions.ts';
import { type Answer, bare, problem, served } from '../http/answer.ts';
import { fieldValue, objectIn, type ReceivedRequest, splitTarget } from '../http/message.ts';
import type { Route, RouteCall } from '../http/routes.ts';

/** The items that the operations of a config create, change and remove: held as they are documented, with ETags. */
export function describedItems({ operations, definitions = {} }: ServiceConfig): readonly Route[] {
  const book = new SchemaBook(definitions);
  return lifecyclesOf(operations, definitions).flatMap((each) => routesOf(each, book));
}

function routesOf(
  { create, read, update, replace, remove, list, idMember, readable }: Lifecycle,
  book: SchemaBook,
): readonly Route[] {
  const items = new Map<string, JsonObject>();
  const byKey = new Map<string, string>();
  const path = splitTarget(create.path).path;
  let created = 0;

  const itemOf = (id: string, members: JsonObject): JsonObject => {
    const value = readable[idMember]?.type === 'integer' ? Number(id) : id;
    const item = { ...members, [idMember]: value };
    items.set(id, item);
    return item;
  };
  const changing =
    (operation: Operation, change: (item: JsonObject, members: JsonObject) => JsonObject) =>
    ({ request, parameters: { id = '' } }: RouteCall): Answer => {
      const item = items.get(id);
      if (item === undefined) return problem('not-found');
      const wanted = fieldValue(request, 'if-match');
      if (wanted !== undefined && wanted !== entityTagOf(served(item).body)) {
        return problem('precondition-failed');
      }
      const members = membersIn(request, operation, book);
      return members === null
        ? problem('invalid-content')
        : answered(operation, itemOf(id, change(item, members)));
    };

  return [
    {
      template: path,
      credential: 'any',
      methods: {
        POST: ({ request }) => {
          const members = membersIn(request, create, book);
          if (members === null) return problem('invalid-content');
          const key = fieldValue(request, 'idempotency-key') ?? '';
          created += 1;
          const id = byKey.get(key) ?? String(created);
          if (key !== '') byKey.set(key, id);
          return answered(create, itemOf(id, members), [['Location', `${path}/${id}`]]);
        },
        ...(list && { GET: () => answered(list, [...items.values()]) }),
      },
    },
    {
      template: `${path}/:id`,
      credential: 'any',
      methods: {
        GET: ({ parameters: { id = '' } }) => {
          const item = items.get(id);
          return item === undefined ? problem('not-found') : answered(read, item);
        },
        DELETE: ({ parameters: { id = '' } }) => {
          if (!items.delete(id)) return problem('not-found');
          return bare('served', remove.response.status);
        },
        ...(update && { PATCH: changing(update, (item, members) => ({ ...item, ...members })) }),
        ...(replace && { PUT: changing(replace, (_, members) => members) }),
      },
    },
  ];
}

function answered(
  { response: { status } }: Operation,
  content: unknown,
  fields: Answer['fields'] = [],
): Answer {
  return { ...served(content, fields), status };
}

/** null where the content is not what the operation takes. */
function membersIn(request: ReceivedRequest, { call }: Operation, book: SchemaBook): JsonObject | null {
  const members = objectIn(request);
  if (members === null || call.body?.schema === undefined || call.body.schema === null) return members;
  return book.compile(call.body.schema)(members) === null ? members : null;
}
