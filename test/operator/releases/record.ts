import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion } from '../../../src/kind/package-version';
import { claimOf, specs, workloadOf, type Recorded } from './rendered';

/** `npx tsx test/operator/releases/record.ts`, once for each release: what it renders, for all that come after it. */
const recorded = Object.fromEntries(Object.entries(specs).map(([title, spec]): [string, Recorded] => [title, { spec, workload: workloadOf(spec), claim: claimOf(spec) }]));
writeFileSync(join(__dirname, `${packageVersion}.json`), `${JSON.stringify(recorded, undefined, 1)}\n`);
