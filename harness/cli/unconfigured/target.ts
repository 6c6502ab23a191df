/** Whether a text of the command line is a document or a URL. The name of a service has no dot, slash or colon. */
export function isTarget(text: string): boolean {
  return /^[^-].*[./:]|^[./]/.test(text);
}
