import { isDeepStrictEqual } from 'node:util';
import type { DatabaseServerProps } from '../constructs/database-server';
import type { ServerNames } from '../constructs/server-names';
import type { Engine, Parameters } from '../engines/engine';
import { packageVersion } from '../kind/package-version';
import type { KubeObject } from '../kind/resource';

/** Annotation of the data claim: for which props which release rendered the pods on it, and how. A workload that is made anew could not tell. */
export const renderedMark = 'dbop.dev/rendered';

/** A StatefulSet or a Deployment. */
export interface Workload extends KubeObject {
  spec?: { template?: object };
}

/** What pods are rendered from; what is left out never reaches them. */
type Asked = Omit<DatabaseServerProps, 'running' | 'backup' | 'network' | 'data'> & { readonly openFolder?: boolean };

interface Rendered {
  readonly release: string;
  readonly asked: Asked;
  readonly pods: object;
}

/** What the pods of a rendered workload are for, so that a later release can tell a changed wish from a changed rendering. */
export function renderedPods(workload: Workload, props: DatabaseServerProps): Record<string, string> {
  const asked = { ...props, openFolder: props.data.openFolder, running: undefined, backup: undefined, network: undefined, data: undefined };
  const rendered: Rendered = { release: packageVersion, asked, pods: workload.spec?.template ?? {} };
  return { [renderedMark]: JSON.stringify(rendered) };
}

/**
 * Gives a rendered workload the pods that there are, where they were rendered for the same wish: pods are never started anew
 * because a release renders them in another way.
 *
 * The template comes from the mark and not from the live workload, in which somebody may have edited it.
 * @param claim the rendered data claim
 * @param live the one that there is
 * @returns the release whose pods are kept; undefined if they are as this release renders them
 */
export function keepPods(workload: Workload, claim: KubeObject, live: KubeObject | undefined, engine: Pick<Engine, 'restartParameters'>): string | undefined {
  const [now, before] = [markOf(claim), markOf(live)];
  if (now === undefined || before === undefined || !isSameWish(before.asked, now.asked, engine)) return undefined;
  claim.metadata.annotations = { ...claim.metadata.annotations, [renderedMark]: live!.metadata.annotations![renderedMark]! };
  workload.spec = { ...workload.spec, template: before.pods };
  return isDeepStrictEqual(now.pods, before.pods) ? undefined : before.release;
}

/** Of the parameters only those count that need a restart, in the judgement of this release; of the names those that the older release knew. */
function isSameWish(before: Asked, now: Asked, engine: Pick<Engine, 'restartParameters'>): boolean {
  const restart = ({ parameters = {}, version }: Asked): Parameters => engine.restartParameters(parameters, version);
  const rest = (asked: Asked) => ({ ...asked, parameters: undefined, names: undefined });
  const names = Object.entries(before.names ?? {}).every(([role, name]) => now.names?.[role as keyof ServerNames] === name);
  return names && isDeepStrictEqual(rest(before), rest(now)) && isDeepStrictEqual(restart(before), restart(now));
}

function markOf(claim: KubeObject | undefined): Rendered | undefined {
  try {
    const mark = claim?.metadata.annotations?.[renderedMark];
    return mark === undefined ? undefined : (JSON.parse(mark) as Rendered);
  } catch {
    return undefined;
  }
}
