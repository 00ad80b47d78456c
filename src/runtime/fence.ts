import type { Client } from './client';

/** The calls that a client offers. */
export type ClientCalls = Pick<Client, 'get' | 'list' | 'pages' | 'create' | 'apply' | 'patch' | 'delete' | 'watch' | 'exec' | 'logs' | 'portForward'>;

/**
 * The same client behind a fence: once the signal is aborted, calls under way end and new ones are refused before anything is sent.
 * A manager that has lost its lease thus can't write, whatever its controllers try.
 * @param mayPass asked before each call, for a fence whose signal comes late because the whole process stood still; throws to refuse
 */
export function fenced(client: ClientCalls, fence: AbortSignal, mayPass: () => void = () => undefined): ClientCalls {
  const inside = <Options extends { readonly signal?: AbortSignal }>(options: Options | undefined): Options => {
    fence.throwIfAborted();
    mayPass();
    const own = options?.signal;
    return { ...options, signal: own === undefined ? fence : AbortSignal.any([own, fence]) } as Options;
  };
  return {
    get: async (type, key, options) => client.get(type, key, inside(options)),
    list: async (type, options) => client.list(type, inside(options)),
    pages: (type, options) => client.pages(type, inside(options)),
    create: async (type, object, options) => client.create(type, object, inside(options)),
    apply: async (type, object, options) => client.apply(type, object, inside(options)),
    patch: async (type, key, patch, options) => client.patch(type, key, patch, inside(options)),
    delete: async (type, key, options) => client.delete(type, key, inside(options)),
    watch: (type, options) => client.watch(type, inside(options)),
    exec: async (namespace, pod, command, options) => client.exec(namespace, pod, command, inside(options)),
    logs: async (namespace, pod, options) => client.logs(namespace, pod, inside(options)),
    portForward: async (namespace, pod, port, options) => client.portForward(namespace, pod, port, inside(options)),
  };
}
