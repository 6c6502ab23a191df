#!/usr/bin/env node
import { keepCompiledCode } from '../engine/worker/compiled-code.ts';
import { conclude } from './process.ts';
import { buildProgram } from './program.ts';

keepCompiledCode();
await conclude(() => buildProgram().run(process.argv.slice(2)));
