#!/usr/bin/env node
import { processIo } from './io';
import { runProgram } from './program';

void runProgram(process.argv.slice(2), processIo()).then((code) => {
  process.exitCode = code;
});
