import type { TestCluster } from './test-cluster';

/** Everything a person would look at first when something in a namespace doesn't come about. Never throws. */
export async function dumpNamespace(cluster: TestCluster, namespace: string | undefined): Promise<string> {
  if (!namespace) return '';
  const questions = [
    `get pods,jobs,statefulsets,persistentvolumeclaims -n ${namespace} -o wide`,
    `get events -n ${namespace} --sort-by=.lastTimestamp -o custom-columns=AT:.lastTimestamp,OBJECT:.involvedObject.name,REASON:.reason,MESSAGE:.message`,
    `logs -n ${namespace} -l '' --all-containers --prefix --tail=30 --ignore-errors --max-log-requests=20`,
  ];
  const answers = await Promise.all(questions.map((question) => cluster.tryKubectl(question)));
  return questions.map((question, index) => `--- kubectl ${question}\n${answers[index]!.stdout}${answers[index]!.stderr}`).join('\n');
}
