import type { Chart } from 'cdk8s';
import type { Logger } from 'pino';
import type { Kind, ObjectOf } from '../kind/define-kind';
import type { KubeObject, ResourceType } from '../kind/resource';
import { applyChildren, removeObject } from './apply';
import type { Clock } from './clock';
import type { ApplyChildrenOptions, Context, Reader } from './context';
import type { Controller } from './controller';
import type { Environment } from './environment';
import type { ClientCalls } from './fence';
import { render } from './render';
import type { Views } from './views';

/** What one pass needs to know. */
export interface PassParts {
  readonly controller: Controller;
  readonly environment: Environment;
  readonly views: Views;
  readonly object: KubeObject;
  readonly reconcileId: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Marks events that writes of this controller bring about. */
  readonly origin: unknown;
}

/** The context of one pass over one object. */
export class PassContext implements Context {
  readonly object: ObjectOf<Kind>;
  readonly reconcileId: string;
  readonly client: ClientCalls;
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;

  constructor(private readonly parts: PassParts) {
    this.object = parts.object as ObjectOf<Kind>;
    this.reconcileId = parts.reconcileId;
    this.log = parts.log;
    this.clock = parts.environment.clock;
    this.signal = parts.signal;
    this.client = parts.environment.clientUntil(parts.signal);
  }

  read<T extends KubeObject>(type: ResourceType): Reader<T> {
    return this.parts.views.reader<T>(type, this.object);
  }

  render(build: (chart: Chart) => void): KubeObject[] {
    return render(build);
  }

  apply(manifests: readonly KubeObject[], options: ApplyChildrenOptions = {}): Promise<KubeObject[]> {
    const { environment, views, controller, origin } = this.parts;
    return applyChildren(manifests, { own: controller.ownership, ...options }, {
      client: this.client,
      manager: environment.manager,
      owner: this.object,
      ownerType: controller.kind,
      owns: views.owned,
      origin,
      alive: environment.alive,
    });
  }

  remove(object: KubeObject): Promise<boolean> {
    return removeObject(object, this.typeOf(object), this.client);
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.parts.environment.events.send(this.object, { type, reason, message, action: 'Reconcile' });
  }

  audit(act: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.log.info({ ...details, audit: true, act }, `audit: ${act}`);
  }

  private typeOf(object: KubeObject): ResourceType {
    const { kind, owns = [], also = [] } = this.parts.controller;
    const types = [...owns, ...also.filter(({ verbs }) => verbs.includes('delete')).map(({ type }) => type)];
    const found = types.find((type) => type.kind === object.kind && object.apiVersion === (type.group === '' ? type.version : `${type.group}/${type.version}`));
    if (found !== undefined) return found;
    throw new Error(`${object.kind} '${object.metadata.name}' can't be removed: the controller of ${kind.kind} declares no right to delete ${object.kind}; add the kind to 'owns', or the right to 'also'`);
  }
}
