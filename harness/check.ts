/** What a module with checks of one's own needs: `conform-api/check`. */
export {
  check,
  type OwnAnswer,
  type OwnCheck,
  type OwnProof,
  type OwnRequest,
  type OwnResponse,
} from './config/own/own-check.ts';
