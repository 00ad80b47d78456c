import { clientProgram } from '../../src/cli/client-program';

const login = { host: '127.0.0.1', port: 40001, username: 'app', password: 'a"b\\c:d', database: 'shop' };
const file = '/private/login';

describe('the client of an engine', () => {
  it('is told the password of MySQL by an option file alone, quoted', () => {
    const { secretFile, programs, ...start } = clientProgram('mysql', login);
    expect(programs).toEqual(['mysql', 'mariadb']);
    expect(secretFile).toContain('[client]\nhost=127.0.0.1\nport=40001\nprotocol=tcp\nuser="app"\npassword="a\\"b\\\\c:d"\n[mysql]\ndatabase="shop"\n');
    expect(start.arguments(file)).toEqual(['--defaults-file=/private/login']);
    expect(start.environment(file)).toEqual({});
  });

  it('is told the password of PostgreSQL by a password file alone, escaped', () => {
    const { secretFile, programs, ...start } = clientProgram('postgres', login);
    expect(programs).toEqual(['psql']);
    expect(secretFile).toBe('127.0.0.1:40001:shop:app:a"b\\\\c\\:d\n');
    expect(start.arguments(file)).toEqual([]);
    expect(start.environment(file)).toEqual({ PGPASSFILE: file, PGHOST: '127.0.0.1', PGPORT: '40001', PGUSER: 'app', PGDATABASE: 'shop', PGSSLMODE: 'prefer' });
  });
});
