const HOOK = `import module from 'node:module';
const { registerHooks } = module;
const isMarked = (specifier) => specifier.includes('%3Fvitest=');
if (registerHooks) module.registerHooks = ({ resolve }) => registerHooks({
  resolve: (specifier, context, next) =>
    isMarked(specifier) ? resolve(specifier, context, next) : next(specifier, context),
});`;

/**
 * For the workers of vitest, an argument of theirs. For its watch mode they would tell the main process of each import
 * of each module, a fifth of what a start takes. Of the hook that does so this leaves what takes vitest's mark off the
 * address of an entry.
 */
export const PLAIN_IMPORTS = `--import=data:text/javascript,${encodeURIComponent(HOOK)}`;
