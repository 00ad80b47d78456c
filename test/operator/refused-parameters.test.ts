import type { Facts } from '../../src/operator/facts';
import { serverChildren } from '../../src/operator/children';
import { startParameters, stillRefused } from '../../src/operator/refused-parameters';
import { mysqlPlan } from './plans';

type Known = Pick<Facts, 'confirmedParameters' | 'refusedParameters'>;
const wishing = (parameters?: Record<string, string>) => ({ ...mysqlPlan(), server: { ...mysqlPlan().server, parameters } });

describe('a server that starts after it has refused a parameter', () => {
  it.each<[string, Record<string, string> | undefined, Known, Record<string, string>]>([
    ['has the former value, and what is wanted beside it', { max_connections: 'many', time_zone: 'UTC' }, { confirmedParameters: { max_connections: '50' }, refusedParameters: { max_connections: 'many' } }, { max_connections: '50', time_zone: 'UTC' }],
    ['has none where there was none before', { max_connections: 'many' }, { confirmedParameters: {}, refusedParameters: { max_connections: 'many' } }, {}],
    ['has another value as soon as that is wanted, though nobody has asked a server', { max_connections: '60' }, { confirmedParameters: { max_connections: '50' }, refusedParameters: { max_connections: 'many' } }, { max_connections: '60' }],
    ['has nothing of what was taken back', undefined, { confirmedParameters: { max_connections: '50' }, refusedParameters: { max_connections: 'many' } }, {}],
    ['has all that is wanted where nothing was refused', { max_connections: '60' }, { confirmedParameters: { max_connections: '50' } }, { max_connections: '60' }],
  ])('%s', (_claim, wanted, known, started) => {
    expect(startParameters(wishing(wanted), known)).toEqual(started);
  });

  it('is remembered to have refused it as long as it is wanted, and no longer', () => {
    const refusedParameters = { max_connections: 'many' };
    expect(stillRefused(wishing({ max_connections: 'many' }), { refusedParameters })).toEqual(refusedParameters);
    expect(stillRefused(wishing({ max_connections: '60' }), { refusedParameters })).toEqual({});
    expect(stillRefused(wishing(), { refusedParameters })).toEqual({});
  });

  it('has a ConfigMap that tells what was refused apart from what it runs with', () => {
    const marks = (refused: Record<string, string>) => serverChildren(wishing({ max_connections: 'many' }), { running: true, holdsData: true, parameters: {}, refused }).find(({ kind }) => kind === 'ConfigMap')!.metadata.annotations;
    expect(marks({ max_connections: 'many' })).toMatchObject({ 'dbop.dev/confirmed-parameters': '{}', 'dbop.dev/refused-parameters': '{"max_connections":"many"}' });
    expect(marks({})).not.toHaveProperty(['dbop.dev/refused-parameters']);
  });
});
