import { execFileSync } from 'node:child_process';
import { candidates } from '../../src/cli/candidates';
import { processIo } from '../../src/cli/io';
import { program } from '../../src/cli/program';
import { dbop } from './test-io';

const root = program(processIo());

describe('completion', () => {
  it.each([
    [['st'], ['status']],
    [['re'], ['render', 'restore']],
    [['plan', '--k'], ['--kubeconfig']],
    [['plan', '-o', ''], ['json', 'yaml']],
    [['completion', ''], ['bash', 'zsh', 'fish']],
    [['completion', 'z'], ['zsh']],
    [['nonsense', ''], []],
    [['__'], []],
  ])('of %j is %j', (words, found) => {
    expect(candidates(root, words).found).toEqual(found);
  });

  it('asks the cluster for names where a name is due, in the namespace that was typed', () => {
    expect(candidates(root, ['status', '-n', 'shop', 'or']).names).toEqual({ namespace: 'shop' });
    expect(candidates(root, ['status', '--context=dev', '']).names).toEqual({ context: 'dev' });
    expect(candidates(root, ['status', 'orders', '']).names).toBeUndefined();
    expect(candidates(root, ['render', '']).names).toBeUndefined();
  });

  it('is silent, not broken, where no cluster can be reached', async () => {
    expect(await dbop('__complete -- status o')).toEqual({ code: 0, out: '', err: '' });
  });

  it('is a script that bash takes', async () => {
    const { out } = await dbop('completion bash');
    expect(execFileSync('bash', ['-c', `${out}\ndbop() { echo status; }\nCOMP_WORDS=(dbop st) COMP_CWORD=1\n_dbop\necho "$COMPREPLY"`]).toString()).toBe('status\n');
  });
});
