import { decide, type Step } from '../../src/operator/decide';
import type { Facts } from '../../src/operator/facts';
import type { DatabasePlan } from '../../src/operator/plan';
import { mysqlPlan } from './plans';

const passwords = { root: 'r', operator: 'o', backup: 'b', app: 'a' };
const data = { name: 'data-orders-0', uid: 'c1', going: false, origin: 'empty', holdsData: true, version: '9.7', ours: true };
const pod = { name: 'orders-0', uid: 'p1', ready: true, up: false, reason: 'PodReady', message: 'ready', failing: false, closed: false };
const job = (state: 'running' | 'succeeded' | 'failed') => ({ name: 'j', uid: 'j1', state });
const backup = { database: 'orders', name: 'j', location: 'volume:orders/j', engine: 'mysql', serverVersion: '9.7.4', bytes: 1, storedBytes: 1, sha256: 'x', tables: 1, rows: 1, startedAt: 'now', completedAt: 'now' };
const stored = (verifiedAt?: string) => ({ ...job('succeeded'), result: { outcome: 'stored' as const, message: '', backup: { ...backup, verifiedAt }, pruned: [] } });

const nothing: Facts = { deleting: false, rolledOut: false, accountsAreOurs: true, retained: [], wanted: {}, username: 'app', mayHaveBackup: false, backups: {} };
const healthy: Facts = { ...nothing, known: passwords, data, pod, server: { kind: 'answers', version: '9.7.4' }, confirmedParameters: {} };

const situations: [string, Partial<DatabasePlan>, Facts, Step][] = [
  ['a new database, no backup anywhere', {}, nothing, 'Starting'],
  ['a new database under the name of one that left a backup volume', {}, { ...nothing, mayHaveBackup: true }, 'Restoring'],
  ['restore never wanted, though a backup volume is there', { restore: { policy: 'Never' } }, { ...nothing, mayHaveBackup: true }, 'Starting'],
  ['restore required, nothing known of a backup', { restore: { policy: 'Required' } }, nothing, 'Restoring'],
  ['a clone of another database', { restore: { policy: 'IfAvailable', from: { database: 'other' } } }, nothing, 'Restoring'],
  ['the restore is done, the server not yet started', { restore: { policy: 'Required' } }, { ...nothing, mayHaveBackup: true, data: { ...data, origin: 'orders-1', holdsData: false } }, 'Starting'],
  ['a volume that an earlier life left with its data', {}, { ...nothing, mayHaveBackup: true, data }, 'Starting'],
  ['the restore Job failed and the policy still wants it', {}, { ...nothing, mayHaveBackup: true, data: { ...data, origin: undefined, holdsData: false }, restoreJob: job('failed') }, 'Restoring'],
  ['the pod is down', {}, { ...healthy, pod: { ...pod, ready: false, failing: true } }, 'Starting'],
  ['the pod is ready, the server silent', {}, { ...healthy, server: { kind: 'silent', why: 'refused' } }, 'Starting'],
  ['the pod is ready, the server not asked', {}, { ...healthy, server: undefined }, 'Starting'],
  ['all is well', {}, healthy, 'Running'],
  ['somebody changed the password inside the server', {}, { ...healthy, server: { kind: 'denied' } }, 'Configuring'],
  ['the application’s Secret was edited', {}, { ...healthy, wanted: { app: 'new' } }, 'Configuring'],
  ['an interrupted change left an old password valid', {}, { ...healthy, retained: ['app'] }, 'Configuring'],
  ['new passwords are asked for', { rotation: 'monday' }, healthy, 'Configuring'],
  ['the new passwords have been chosen and taken', { rotation: 'monday' }, { ...healthy, rotated: 'monday' }, 'Running'],
  ['a parameter was changed', { server: { ...mysqlPlan().server, parameters: { max_connections: '50' } } }, healthy, 'Configuring'],
  ['a parameter was removed', {}, { ...healthy, confirmedParameters: { max_connections: '50' } }, 'Configuring'],
  ['a parameter was changed while the pod is down: the new file is applied at once', { server: { ...mysqlPlan().server, parameters: { max_connections: '50' } } }, { ...healthy, pod: { ...pod, ready: false } }, 'Starting'],
  ['a minor upgrade', { server: { ...mysqlPlan().server, version: '9.7.5' } }, { ...healthy, data: { ...data, version: '9.7.4' } }, 'Running'],
  ['a major upgrade', { server: { ...mysqlPlan().server, version: '9.7' } }, { ...healthy, data: { ...data, version: '8.4' } }, 'Refused'],
  ['a version that leaves its last number open', { server: { ...mysqlPlan().server, version: '9.7' } }, { ...healthy, data: { ...data, version: '9.7', answered: '9.7.4' } }, 'Running'],
  ['a downgrade below what the open version has brought', { server: { ...mysqlPlan().server, version: '9.7.1' } }, { ...healthy, data: { ...data, version: '9.7', answered: '9.7.4' } }, 'Refused'],
  ['an image that calls itself by another version than the spec', { server: { ...mysqlPlan().server, version: '8.4.1' } }, { ...healthy, data: { ...data, version: '8.4', answered: '9.7.4' } }, 'Running'],
  ['a downgrade', { server: { ...mysqlPlan().server, version: '8.4' } }, healthy, 'Refused'],
  ['a volume that a database of the other engine has left', {}, { ...nothing, data: { ...data, engine: 'postgres', ours: false } }, 'Refused'],
  ['a supplied Secret is missing', {}, { ...nothing, missingSecret: 'Secret x does not exist' }, 'MissingSecret'],
  ['the Secret of an account that owns the database is gone: all else goes on', {}, { ...healthy, data: { ...data, account: 'shop' }, missingSecret: 'Secret x does not exist' }, 'Running'],
  ['hibernation of a running database', { hibernated: true }, healthy, 'Hibernating'],
  ['hibernation of a database that has still to be restored', { hibernated: true }, { ...nothing, mayHaveBackup: true }, 'Restoring'],
  ['paused and broken', { paused: true }, { ...healthy, pod: { ...pod, ready: false } }, 'Paused'],
  ['paused and deleted', { paused: true }, { ...healthy, deleting: true }, 'Paused'],
  ['the data claim was deleted under a running server', {}, { ...healthy, data: { ...data, going: true } }, 'VolumeGoing'],
  ['the data claim was deleted, and a former backup is there: the server is not stopped for a restore', {}, { ...healthy, mayHaveBackup: true, data: { ...data, origin: undefined, going: true } }, 'VolumeGoing'],
  ['deleted although it is protected', { protected: true, deletionPolicy: 'Delete' }, { ...healthy, deleting: true }, 'Protected'],
  ['deleted with its data claim, as by a namespace without the policy', {}, { ...healthy, deleting: true, data: { ...data, going: true } }, 'FinalBackup'],
  ['deleted, with data', {}, { ...healthy, deleting: true }, 'FinalBackup'],
  ['deleted, with data, the server down', {}, { ...healthy, deleting: true, pod: undefined, server: undefined }, 'FinalBackup'],
  ['deleted, the last backup under way', {}, { ...healthy, deleting: true, finalJob: job('running') }, 'FinalBackup'],
  ['deleted, the last backup failed', {}, { ...healthy, deleting: true, finalJob: job('failed') }, 'FinalBackup'],
  ['deleted, the last backup proved', {}, { ...healthy, deleting: true, finalJob: stored('now') }, 'Removing'],
  ['deleted, the last backup taken but not proved', {}, { ...healthy, deleting: true, finalJob: stored() }, 'FinalBackup'],
  ['deleted, the Job ended well but nobody knows what it did', {}, { ...healthy, deleting: true, finalJob: job('succeeded') }, 'FinalBackup'],
  ['deleted, the way out taken', { deletionPolicy: 'Delete' }, { ...healthy, deleting: true, finalJob: job('failed') }, 'Removing'],
  ['deleted, data to be retained', { deletionPolicy: 'Retain' }, { ...healthy, deleting: true }, 'Removing'],
  ['deleted before any server ever answered', {}, { ...nothing, deleting: true, data: { ...data, holdsData: false } }, 'Removing'],
  ['deleted just after its pod became ready, before anybody noticed', {}, { ...healthy, deleting: true, data: { ...data, holdsData: false } }, 'FinalBackup'],
  ['deleted while a refused change stands in the spec', { server: { ...mysqlPlan().server, version: '8.4' } }, { ...healthy, deleting: true }, 'FinalBackup'],
  ['deleted on a volume that a database of the other engine has left: there is nothing of its own to back up', {}, { ...nothing, deleting: true, data: { ...data, engine: 'postgres', ours: false } }, 'Removing'],
];

describe('the decision of a pass', () => {
  it.each(situations)('%s', (_name, plan, facts, step) => {
    expect(decide({ ...mysqlPlan(), ...plan }, facts)).toBe(step);
  });
});
