import { serverNames, tryParseQuantity, type BackupTarget, type ObjectOf } from '../../src';
import { databaseController, engineOf, type DatabaseLifeOptions, type DatabasePlan, type Story } from '../../src/operator';
import { Terminal, type Controller } from '../../src/runtime';
import { Database, declaration } from './kind';

export const name = 'example-com-database';

/** The operator: a plan for the object, a status for the story; the rest is the package's. */
export const controllers = (options: DatabaseLifeOptions): Controller[] => [
  databaseController<typeof Database>({ declaration, plan: ({ object }) => plan(object, options.storeImage), status: (story, object) => status(story, object) }, options),
];

/** From version and size to a whole database. */
export function plan({ metadata, spec }: ObjectOf<typeof Database>, storeImage: string): DatabasePlan {
  if (tryParseQuantity(spec.size) === undefined) throw new Terminal('InvalidSize', `spec.size (${spec.size}) has a unit that Kubernetes doesn't know; write it such as 5Gi`);
  const engine = metadata.name.includes('postgres') ? 'postgres' : 'mysql';
  const names = serverNames(metadata.name);
  const target: BackupTarget = { volume: { claimName: names.backupClaim } };
  return {
    engine: engineOf(engine),
    names,
    server: {
      name: metadata.name,
      namespace: metadata.namespace ?? 'default',
      engine,
      version: spec.version,
      data: { size: spec.size },
      podLabels: { app: 'database', 'database-name': metadata.name },
      resources: { requests: amounts({ memory: '256Mi', cpu: '100m', ...spec.resources?.requests }), limits: amounts({ memory: '512Mi', cpu: '500m', ...spec.resources?.limits }) },
      backup: { schedule: { cron: '0 3 * * *' }, target, storeImage, retention: { count: 7 } },
    },
    application: { username: 'app', database: 'app' },
    backup: { target, volume: { size: spec.size }, verify: true, retention: { count: 7 }, finalJob: `${metadata.name}-final-backup` },
    restore: { policy: 'IfAvailable' },
    deletionPolicy: 'Delete',
    wayOut: 'remove the finalizer example.com/database',
    protected: false,
    paused: false,
    hibernated: false,
  };
}

/** Kubernetes takes whole numbers too; the constructs want text. */
function amounts(given: Record<string, string | number>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, amount]) => [name, String(amount)]));
}

function status(story: Story, object: ObjectOf<typeof Database>) {
  return { phase: phase(story, object), message: story.message };
}

/** This kind knows three phases; a database that is being deleted keeps the one it had. */
function phase({ phase: told }: Story, { status: before }: ObjectOf<typeof Database>): 'Creating' | 'Running' | 'Failed' | undefined {
  switch (told) {
    case 'Running':
    case 'Failed':
      return told;
    case 'Deleting':
      return before?.phase;
    case 'Creating':
    case 'Restoring':
    case 'Updating':
    case 'Hibernated':
    case 'Paused':
      return 'Creating';
  }
}
