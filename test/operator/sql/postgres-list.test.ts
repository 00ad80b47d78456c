import { elementsOf } from '../../../src/operator/sql/postgres-list';

describe('a setting of PostgreSQL that is a list', () => {
  it.each([
    ['search_path', 'a, public', ['a', 'public']],
    ['search_path', '"$user", public', ['$user', 'public']],
    ['search_path', ' Shop ,"Shop","a ""b"", c" ', ['shop', 'Shop', 'a "b", c']],
    ['Search_Path', 'a,b', ['a', 'b']],
    ['search_path', '', ['']],
    ['search_path', '""', ['']],
    ['temp_tablespaces', 'fast,Slow', ['fast', 'slow']],
    ['session_preload_libraries', 'Auto_explain, "my lib",/opt/my lib', ['Auto_explain', 'my lib', '/opt/my lib']],
  ])('%s = %s has the elements that the server reads from its file', (name, value, elements) => {
    expect(elementsOf(name, value)).toEqual(elements);
  });

  it.each(['a,', ',a', 'a b', '"a', '"a" b', 'a,,b'])('%s is refused, as by the server', (value) => {
    expect(() => elementsOf('search_path', value)).toThrow(`cannot set search_path: ${JSON.stringify(value)} is no list`);
  });

  it.each([
    ['datestyle', 'ISO, DMY'],
    ['work_mem', '8MB'],
  ])('%s is one literal, which the server takes apart by itself', (name, value) => {
    expect(elementsOf(name, value)).toEqual([value]);
  });
});
