import { mergePatch } from '../../src/cli/proposal';

describe('the patch that kubectl apply would send', () => {
  it('sets what the file has and removes what the file had', () => {
    expect(mergePatch({ size: '1Gi', backup: { schedule: '@daily', verify: true } }, { size: '2Gi', backup: { verify: true } })).toEqual({ size: '2Gi', backup: { schedule: null, verify: true } });
  });

  it('removes a whole map, and replaces lists whole', () => {
    expect(mergePatch({ backup: { schedule: 'x' }, list: [1, 2] }, { list: [3] })).toEqual({ backup: null, list: [3] });
  });
});
