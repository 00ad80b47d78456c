import type { Kind } from './define-kind';
import { builtin, type ResourceType } from './resource';

/** What RBAC lets an account do. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** A right, and why it is needed. */
export interface Access {
  readonly type: ResourceType;
  /** Such as `status`. @default - the object itself */
  readonly subresource?: string;
  readonly verbs: readonly Verb[];
  /** One sentence for whoever reviews the rights. */
  readonly why: string;
  /** Only objects of these names. @default - all */
  readonly names?: readonly string[];
}

/** What a controller touches: the one source of its watches and of its rights. */
export interface ControllerDeclaration<K extends Kind = Kind> {
  /** The kind whose objects it reconciles. */
  readonly kind: K;
  /** Kinds of the children it applies and prunes. @default - none */
  readonly owns?: readonly ResourceType[];
  /**
   * What ties children to their object: an owner reference, by which the garbage collector removes them, or only a label, where
   * the finalizer does it in an order of its own.
   * @default 'reference'
   */
  readonly ownership?: 'reference' | 'label';
  /** Kinds it reads and is woken by, but never writes. @default - none */
  readonly watches?: readonly ResourceType[];
  /** Set on each object before anything is made for it. @default - no clean-up is needed */
  readonly finalizer?: string;
  /** Whatever else it does. @default - nothing */
  readonly also?: readonly Access[];
}

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly Verb[];
}

/** Every right that these controllers need, with its reason; what leader election needs is `leaseAccess`. */
export function accessOf(declarations: readonly ControllerDeclaration[]): Access[] {
  const rights = declarations.flatMap(accessOfOne);
  return [...rights, { type: builtin.Event, verbs: ['create', 'patch'], why: 'tell people what happens; a repeated Event is counted up by a patch' }];
}

/** What the leader's Lease needs, in the operator's own namespace. `create` can't be limited to a name, so it stands alone. */
export function leaseAccess(name: string): Access[] {
  return [
    { type: builtin.Lease, verbs: ['create'], why: 'stand for election the first time' },
    { type: builtin.Lease, verbs: ['get', 'patch'], names: [name], why: 'see who leads; take, renew and give up the lead' },
  ];
}

/**
 * RBAC rules for these controllers, verb by verb.
 *
 * Guarantees: no wildcard; each resource stands in one rule; the same declarations give the same rules in the same order.
 */
export function rulesOf(declarations: readonly ControllerDeclaration[]): PolicyRule[] {
  return toRules(accessOf(declarations));
}

/** The shortest list of rules that grants these rights and no other. */
export function toRules(rights: readonly Access[]): PolicyRule[] {
  const verbs = new Map<string, Set<Verb>>();
  for (const { type, subresource, names, verbs: added } of rights) {
    const resource = subresource === undefined ? type.plural : `${type.plural}/${subresource}`;
    const key = JSON.stringify([type.group, resource, names === undefined ? [] : [...names].sort()]);
    verbs.set(key, new Set([...(verbs.get(key) ?? []), ...added]));
  }
  const together = new Map<string, string[]>();
  for (const [key, set] of [...verbs].sort(([a], [b]) => compare(a, b))) {
    const [group, resource, names] = JSON.parse(key) as [string, string, string[]];
    const same = JSON.stringify([group, names, verbOrder.filter((verb) => set.has(verb))]);
    together.set(same, [...(together.get(same) ?? []), resource]);
  }
  return [...together].map(([same, resources]) => {
    const [group, names, granted] = JSON.parse(same) as [string, string[], Verb[]];
    return { apiGroups: [group], resources, ...(names.length > 0 && { resourceNames: names }), verbs: granted };
  });
}

const verbOrder: readonly Verb[] = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

function accessOfOne({ kind, owns = [], ownership = 'reference', watches = [], finalizer, also = [] }: ControllerDeclaration): Access[] {
  const rights: Access[] = [{ type: kind, verbs: ['get', 'list', 'watch'], why: 'know its objects; get one afresh before deciding about its end' }];
  if (finalizer !== undefined) rights.push({ type: kind, verbs: ['patch'], why: `set and lift the finalizer ${finalizer}` });
  if (kind.statusFields.size > 0) rights.push({ type: kind, subresource: 'status', verbs: ['patch'], why: 'answer in the status' });
  if (owns.length > 0 && ownership === 'reference') rights.push({ type: kind, subresource: 'finalizers', verbs: ['update'], why: 'set blockOwnerDeletion in the owner references of children, which the API server may ask for' });
  for (const type of owns) {
    rights.push({ type, verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'], why: 'see its children; server-side apply creates and patches; prune and clean up' });
  }
  for (const type of watches) rights.push({ type, verbs: ['list', 'watch'], why: 'be woken by their changes; reads come from the cache' });
  return [...rights, ...also];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
