import type { TestCluster } from './test-cluster';

/** Everything a person would look at first when something in a namespace doesn't come about. Never throws. */
export async function dumpNamespace(cluster: TestCluster, namespace: string | undefined): Promise<string> {
  if (!namespace) return '';
  const questions = [
    `get pods,jobs,statefulsets,persistentvolumeclaims -n ${namespace} -o wide`,
    `get events -n ${namespace} --sort-by=.lastTimestamp -o custom-columns=AT:.lastTimestamp,OBJECT:.involvedObject.name,REASON:.reason,MESSAGE:.message`,
  ];
  // By name: kubectl takes an empty selector for none at all.
  const pods = (await cluster.tryKubectl(`get pods -n ${namespace} -o name`)).stdout.split('\n').filter(Boolean);
  questions.push(...pods.map((pod) => `logs -n ${namespace} ${pod} --all-containers --prefix --tail=30 --ignore-errors`));
  const answers = await Promise.all(questions.map((question) => cluster.tryKubectl(question)));
  return questions.map((question, index) => `--- kubectl ${question}\n${answers[index]!.stdout}${answers[index]!.stderr}`).join('\n');
}
