#!/usr/bin/env node
import { program } from './program';

program()
  .parseAsync(process.argv)
  .catch((error: unknown) => {
    process.stderr.write(`dbop: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
