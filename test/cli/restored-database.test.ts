import { Database, type DatabaseObject } from '../../src/api/database';
import type { DatabaseBackupObject } from '../../src/api/database-backup';
import { restoredDatabase, type Source } from '../../src/cli/restored-database';

const key = { namespace: 'shop', name: 'copy' };
const database = (spec: object = {}): DatabaseObject => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name: 'orders', namespace: 'shop' }, spec: Database.check({ engine: 'mysql', version: '9.7', size: '2Gi', ...spec }, 'orders') });
const backup = (status: object): DatabaseBackupObject => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'b', namespace: 'shop' }, spec: { database: 'orders' }, status });
const from = { database: 'orders' };

describe('a database that is restored from another', () => {
  it('has the shape of its source and waits for the backup', () => {
    const { spec, metadata } = restoredDatabase(Database, key, { from, database: database({ parameters: { max_connections: '9' } }) }, {});
    expect(metadata).toEqual(key);
    expect(spec).toMatchObject({ engine: 'mysql', version: '9.7', size: '2Gi', database: 'app', parameters: { max_connections: '9' }, restore: { policy: 'Required', from } });
  });

  it('keeps its backups where the source does, for there the backup is found', () => {
    const s3 = { endpoint: 'https://s3.example.com', bucket: 'backups', credentialsSecretName: 's3' };
    expect(restoredDatabase(Database, key, { from, database: database({ backup: { s3 } }) }, {}).spec.backup).toMatchObject({ s3 });
  });

  it('does not take over what belongs to the life of the source', () => {
    const source = database({ paused: true, hibernated: true, deletionProtection: true, rotatePasswords: 'x', restore: { policy: 'Never' } });
    const { spec } = restoredDatabase(Database, key, { from, database: source }, {});
    for (const field of ['paused', 'hibernated', 'deletionProtection', 'rotatePasswords']) expect(spec).not.toHaveProperty(field);
    expect(spec.restore).toEqual({ policy: 'Required', from });
  });

  it('learns engine and version from a backup whose database is gone', () => {
    const source: Source = { from: { backup: 'b' }, backup: backup({ engine: 'postgres', version: '17.5 (Debian)' }) };
    expect(restoredDatabase(Database, key, source, { size: '1Gi' }).spec).toMatchObject({ engine: 'postgres', version: '17', size: '1Gi' });
    expect(restoredDatabase(Database, key, { ...source, backup: backup({ engine: 'mysql', version: '9.7.1-log' }) }, { size: '1Gi' }).spec).toMatchObject({ engine: 'mysql', version: '9.7' });
  });

  it.each([
    ['nothing is known of a database that is gone', { from }, {}, 'shop/copy: the source database is gone, so nobody knows its engine, version, size; give --engine, --version, --size'],
    ['a backup does not know the size', { from: { backup: 'b' }, backup: backup({ engine: 'mysql', version: '9.7.1' }) }, {}, 'nobody knows its size; give --size'],
    ['an image does not fit another version', { from, database: database({ image: 'acme/mysql:9.7' }) }, { version: '9.8' }, 'the source runs the image acme/mysql:9.7, which is not of version 9.8; name one that is with --image'],
    ['a value is wrong', { from, database: database() }, { size: 'big' }, "'size' (big)"],
  ] satisfies [string, Source, object, string][])('says what is missing when %s', (_, source, overrides, message) => {
    expect(() => restoredDatabase(Database, key, source, overrides)).toThrow(message);
  });
});
