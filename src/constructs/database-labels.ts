import type { EngineName } from '../engines/engine';

/** What the pods of a database are for. */
export type DatabaseComponent = 'server' | 'backup' | 'restore' | 'artifact';

/** Selects the pods of one component of one database. It can never change: a StatefulSet keeps its selector for life. */
export function selectorOf(database: string, component: DatabaseComponent): Record<string, string> {
  return { 'app.kubernetes.io/instance': database, 'app.kubernetes.io/component': component };
}

/** Labels of a database's children and pods. */
export function labelsOf(database: string, component: DatabaseComponent, engine?: EngineName, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...more, ...(engine !== undefined && { 'app.kubernetes.io/name': engine }), ...selectorOf(database, component) };
}
