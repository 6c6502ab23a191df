import { parseJson } from '../../base/json-text.ts';
import { Secret } from '../../base/secret.ts';

/** Shorter ones cannot be distinguished from other text; longer ones cannot be searched for. */
export const TOKEN_LENGTH = { least: 8, most: 16_384 };

export const isRedactable = ({ length }: string) =>
  length >= TOKEN_LENGTH.least && length <= TOKEN_LENGTH.most;

const SECRET_MEMBER = /"(\w*(?:token|secret|assertion))"\s*:\s*(?:"((?:[^"\\]|\\.)*)|(\d+))/gi;
const SECRET_PARAMETER = /\b(\w*(?:token|secret|assertion))=([^&\s"<]+)/gi;

/** All that is called a token, in JSON or a form, even where that breaks off. Null where one could not be redacted. */
export function issuedSecrets(content: string): readonly Secret[] | null {
  const members = [...content.matchAll(SECRET_MEMBER), ...content.matchAll(SECRET_PARAMETER)];
  const secrets = members.map(([, name = '', written = '', digits]) => {
    const value = digits ?? parseJson(`"${written}"`);
    return new Secret(name.toUpperCase(), typeof value === 'string' ? value : written);
  });
  return secrets.every((secret) => isRedactable(secret.reveal())) ? secrets : null;
}
