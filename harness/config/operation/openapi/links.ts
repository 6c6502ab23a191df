import { UsageError } from '../../../base/exit.ts';
import { pointerMembers } from '../../../wire/json/shape.ts';
import { percentDecoded } from '../../../wire/request.ts';
import type { SourceFiles } from '../../document/files.ts';
import type { Remarks } from '../../document/remarks.ts';
import { child, children, type DocumentNode, faultAt } from '../../document/source.ts';
import type { DocumentedLink, Input } from '../call/call.ts';
import { isRuntimeValue } from '../call/runtime-expression.ts';
import { isOtherServer } from './outline.ts';

/** An operation that a link may lead to. */
export interface LinkTarget {
  readonly operationId: unknown;
  readonly method: string;
  /** The path as the document writes it. */
  readonly path: string;
  /** As `DocumentedOperation` has it. */
  readonly template: string;
  readonly inputs: readonly Pick<Input, 'name' | 'in'>[];
}

interface LinkScope {
  readonly files: SourceFiles;
  readonly remarks: Remarks;
  readonly targets: readonly LinkTarget[];
}

const EFFECT = 'the link is not followed';

/** OpenAPI 3.1 §4.8.20: the links of a response. Those that lead to nothing are faults of the document. */
export function readLinks(response: DocumentNode, scope: LinkScope): readonly DocumentedLink[] {
  return children(child(response, 'links')).flatMap(([name, given]) => {
    const link = scope.remarks.attempt(() => readLink(name, given, scope), EFFECT);
    return link instanceof UsageError || link === null ? [] : [link];
  });
}

function readLink(name: string, given: DocumentNode, scope: LinkScope): DocumentedLink | null {
  const at = scope.files.dereferenced(given);
  const server = child(at, 'server');
  if (server.value !== undefined && isOtherServer(scope.files.root, server)) return null;
  const { method, template, inputs } = targetOf(at, scope);
  const parameters = children(child(at, 'parameters')).flatMap(([key, valueAt]) => {
    const [, place, rest = key] = /^(path|query|header|cookie)\.(.+)$/s.exec(key) ?? [];
    const input = inputs.find((each) => each.name === rest && (place === undefined || each.in === place));
    if (!isRuntimeValue(valueAt.value))
      throw faultAt(valueAt, 'is no runtime expression', 'write one such as $response.body#/id');
    if (input !== undefined) return [{ name: input.name, value: valueAt.value }];
    scope.remarks.at(valueAt, 'is no parameter of the operation that the link leads to', 'it is not sent');
    return [];
  });
  const body = child(at, 'requestBody');
  if (!isRuntimeValue(body.value))
    throw faultAt(body, 'has no runtime expression', 'write one such as $response.body#/id');
  const isGiven = body.value !== undefined;
  return { name, method, template, parameters, ...(isGiven && { requestBody: body.value }) };
}

/** @throws UsageError if there is no such operation. */
function targetOf(link: DocumentNode, { targets }: LinkScope): LinkTarget {
  const [id, ref] = [child(link, 'operationId'), child(link, 'operationRef')];
  const remedy = 'name one operation of the document';
  if (typeof id.value === 'string') {
    const found = targets.find(({ operationId }) => operationId === id.value);
    if (found === undefined) throw faultAt(id, `${JSON.stringify(id.value)} is no operation here`, remedy);
    return found;
  }
  if (typeof ref.value !== 'string') throw faultAt(link, 'names no operation', remedy);
  const [file = '', fragment = ''] = ref.value.split('#', 2);
  const [root, path, method, ...more] = pointerMembers(percentDecoded(fragment));
  const found = targets.find((each) => each.path === path && each.method.toLowerCase() === method);
  if (file !== '' || root !== 'paths' || more.length > 0 || found === undefined)
    throw faultAt(ref, `${JSON.stringify(ref.value)} leads to no operation here`, remedy);
  return found;
}
