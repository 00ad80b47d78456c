import type { StoreResult } from '../store/result';
import type { BackupEvidence } from './backup-health';
import type { JobFact } from './job-fact';
import type { PodStory } from './pod-story';
import type { GivenCertificate } from './tls/certificate';

/** What the server was last known to hold: passwords by account, from the Secret that its pods mount. */
export interface KnownPasswords {
  readonly root: string;
  readonly operator: string;
  readonly backup: string;
  readonly app: string;
}

/** The volume a database lives on. */
export interface DataClaim {
  readonly name: string;
  readonly uid: string;
  /** Where its contents come from, once that is settled: `empty`, `kept`, or the name of a backup. */
  readonly origin?: string;
  /** When that was settled by a restore. */
  readonly originAt?: string;
  /** The PersistentVolume that it is bound to. */
  readonly volume?: string;
  /** Somebody has deleted the claim; the pod that uses it keeps it for now. */
  readonly going: boolean;
  /** A server was ready on this volume, whoever it answered: there is something to lose. */
  readonly holdsData: boolean;
  /** Version of the server that last answered from it. */
  readonly version?: string;
  /** What that server called itself. */
  readonly answered?: string;
  /** The application's account, which owns the database in it. @default no server has let it in yet */
  readonly account?: string;
  /** Engine that its data is of. @default the one that is asked for: it was not written down before */
  readonly engine?: string;
  /** Why its pods were last restarted although nothing in them changed. */
  readonly restartedFor?: string;
  /** This object has taken it up; else it is as an earlier life left it. */
  readonly ours: boolean;
  /** In words, while it is smaller than what it was asked to be. */
  readonly growing?: string;
}

/** How the server answered the last question. */
export type ServerAnswer =
  | { readonly kind: 'answers'; readonly version: string; readonly certificate?: string }
  | { readonly kind: 'denied' }
  | { readonly kind: 'silent'; readonly why: string };

/** What the cluster knows and the spec doesn't: everything that a decision stands on. Plain data. */
export interface Facts {
  readonly deleting: boolean;
  /** @default the accounts have not been made yet */
  readonly known?: KnownPasswords;
  /** The Secret with these passwords belongs to this object, and not to a former one that left it behind. */
  readonly accountsAreOurs: boolean;
  /** Accounts whose password before the current one is still valid, because a change was interrupted. */
  readonly retained: readonly string[];
  /** What the accounts' passwords should be, as far as it differs from `known`. */
  readonly wanted: Partial<KnownPasswords>;
  /** Certificates of the authorities that the server's certificate may come from, PEM. */
  readonly authority?: string;
  /** The certificate from a Secret of the user's. @default the operator makes one */
  readonly certificate?: GivenCertificate;
  /** The application's password as its Secret has it: ours, which a user may have edited, or the user's own. */
  readonly shown?: string;
  /** Name of the application's account. */
  readonly username: string;
  /** Why the account that the spec asks for can't be had: its Secret is missing, lacks a key, or names another account than the one that owns the database. */
  readonly missingSecret?: string;
  readonly data?: DataClaim;
  /** There is a place where a backup may lie. */
  readonly mayHaveBackup: boolean;
  /** Settings that the running server has confirmed. */
  readonly confirmedParameters?: Readonly<Record<string, string>>;
  /** Values that the running server has refused, by the parameter's name. */
  readonly refusedParameters?: Readonly<Record<string, string>>;
  /** Image that the server's pods are made from. */
  readonly image?: string;
  /** The pod is made as those are to be. */
  readonly rolledOut: boolean;
  /** The rotation of passwords that was last begun. */
  readonly rotated?: string;
  readonly pod?: PodStory;
  readonly server?: ServerAnswer;
  readonly restoreJob?: JobFact<StoreResult>;
  readonly finalJob?: JobFact<StoreResult>;
  readonly lastBackup?: { readonly name: string; readonly at: string; readonly verified: boolean };
  /** What the health of backups is judged by. */
  readonly backups: BackupEvidence;
}
