import { type Answer, bare, CREDENTIAL_REFUSALS, served } from '../../http/answer.ts';
import { fieldValue, withField } from '../../http/message.ts';
import { beforehand, onAnswer, type Patch, together } from './patch.ts';

/** What services do for pages of other origins, and for clients that find their own way. */

/** Lets pages of an origin read the answers, and answers their preflights without asking for a credential. */
export const allowingOrigin = (originFor: (asking: string) => string, fields: string): Patch =>
  together(
    onAnswer('served', (answer, request) => {
      const asking = fieldValue(request, 'origin');
      return asking === undefined
        ? answer
        : withField(answer, 'Access-Control-Allow-Origin', originFor(asking));
    }),
    beforehand((request) => {
      const asking = fieldValue(request, 'origin');
      const method = fieldValue(request, 'access-control-request-method');
      if (request.method !== 'OPTIONS' || asking === undefined || method === undefined) return null;
      return bare('options', 204, [
        ['Access-Control-Allow-Origin', originFor(asking)],
        ['Access-Control-Allow-Methods', method],
        ['Access-Control-Allow-Headers', fields],
      ]);
    }),
  );

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Names its metadata in each challenge (RFC 9728 §5.1), and serves them as `change` has it. */
export const namingMetadata = (change: (answer: Answer) => Answer = (answer) => answer): Patch =>
  together(
    onAnswer(CREDENTIAL_REFUSALS, (answer, request) =>
      withField(
        answer,
        'WWW-Authenticate',
        `Bearer realm="api", resource_metadata="http://${fieldValue(request, 'host')}${METADATA_PATH}"`,
      ),
    ),
    beforehand((request) => {
      if (request.path !== METADATA_PATH) return null;
      const resource = `http://${fieldValue(request, 'host')}/`;
      return change({
        ...served({ resource, bearer_methods_supported: ['header'] }),
        responseKind: 'options',
      });
    }),
  );
