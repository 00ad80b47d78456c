import type { ApiError } from '../runtime/api-error';
import { Interrupted } from './io';

/** A command can't do what was asked; the message says what, where, why and what to do. */
export class Failure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Failure';
  }
}

/** What a shell expects of a command that was interrupted. */
const INTERRUPTED = 130;

/** The exit code that an error amounts to. */
export function exitCodeOf(error: unknown): number {
  return error instanceof Interrupted ? INTERRUPTED : 1;
}

/** An error in words for the person at the terminal: the API server's own, and what to do about it. */
export function explained(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // By name: this file is loaded by every command, the client only by those that talk to a cluster.
  if (error.name === 'ApiError') return refused(error as ApiError);
  if (error.name === 'TransportError') return `the API server gave no answer: ${error.message}; check --kubeconfig and --context, and whether the cluster runs`;
  return error.message;
}

function refused(error: ApiError): string {
  switch (error.status) {
    case 401:
      return `the API server does not know you (401): ${error.serverMessage}; log in again, or choose another --context`;
    case 403:
      return `you may not do this (403): ${error.serverMessage}; ask whoever runs the cluster for this right`;
    case 404:
      if (error.details.name !== undefined) return error.serverMessage;
      return `the cluster does not serve ${error.message.split(' ')[1] ?? 'this kind'}: install the operator's CustomResourceDefinitions first, or name your group with --group`;
    default:
      return `the API server refused (${error.status} ${error.reason}): ${error.serverMessage}`;
  }
}
