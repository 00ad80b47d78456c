import Sequencer from '@jest/test-sequencer';

/** What takes minutes, the longest first. */
const LONG = [
  'store/conversation',
  'package/consumer',
  'docs/walks.cluster',
  'operator/mysql.cluster',
  'store/postgres-backup.cluster',
  'operator/postgres.cluster',
  'store/mysql-backup.cluster',
  'operator/killed-operator.control-plane',
  'operator/s3.cluster',
  'runtime/controller.control-plane',
  'operator/node-loss.cluster',
  'cluster/cluster.control-plane',
  'operator/deletion.control-plane',
];

/**
 * On a new machine jest knows no durations and begins with the largest files. Here they are the short ones: the long tests stand in
 * files that several share, and one that begins last is waited for by all other workers.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((left, right) => rankOf(left) - rankOf(right));
  }
}

function rankOf({ path }) {
  const rank = LONG.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  return rank === -1 ? LONG.length : rank;
}
