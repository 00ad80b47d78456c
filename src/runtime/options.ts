import { readFileSync } from 'node:fs';
import type { Level } from 'pino';
import type { ElectionOptions } from './manager';

/** How an operator's process is run, as far as it isn't written in its code. */
export interface RunOptions {
  readonly namespaces?: readonly string[];
  readonly election?: ElectionOptions;
  /** Port of /healthz, /readyz and /metrics; 0 means none. */
  readonly port: number;
  readonly logLevel: Level;
  readonly gracePeriodMs: number;
}

/** One setting: a flag and an environment variable of the same meaning. The flag wins. */
export interface Setting {
  /** As in `--flag value`. */
  readonly flag: string;
  readonly env: string;
  /** For --help; says the default. */
  readonly description: string;
}

/** All settings, for --help. */
export const settings = {
  namespaces: { flag: 'namespaces', env: 'DBOP_NAMESPACES', description: 'namespaces to look after, separated by commas (default: all)' },
  leaderElect: { flag: 'leader-elect', env: 'DBOP_LEADER_ELECT', description: 'true if several processes may run and one shall lead (default: false)' },
  leaseName: { flag: 'lease-name', env: 'DBOP_LEASE_NAME', description: "name of the Lease that decides who leads (default: the operator's name)" },
  leaseNamespace: { flag: 'lease-namespace', env: 'DBOP_LEASE_NAMESPACE', description: "namespace of the Lease (default: the pod's own)" },
  leaseDuration: { flag: 'lease-duration', env: 'DBOP_LEASE_DURATION', description: 'seconds after which others take over from a leader that is silent, from 3 (default: 15)' },
  port: { flag: 'port', env: 'DBOP_PORT', description: 'port of /healthz, /readyz and /metrics, 0 for none (default: 8080)' },
  logLevel: { flag: 'log-level', env: 'DBOP_LOG_LEVEL', description: 'trace, debug, info, warn, error or fatal (default: info)' },
  gracePeriod: { flag: 'grace-period', env: 'DBOP_GRACE_PERIOD', description: "seconds that passes under way may take to end after SIGTERM; keep it below the pod's grace period (default: 20)" },
} as const satisfies Record<string, Setting>;

/** Names of the settings. */
export type SettingName = keyof typeof settings;

/** The namespace that a pod lives in. */
const podNamespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/**
 * Settings from flags and environment, each checked.
 * @param name the operator's name
 * @param flags what was given on the command line
 * @throws Error with every problem at once
 */
export function parseRunOptions(name: string, flags: Readonly<Partial<Record<SettingName, string>>>, env: NodeJS.ProcessEnv = process.env): RunOptions {
  const problems: string[] = [];
  const given = new Given(flags, env, problems);
  const durationMs = given.number('leaseDuration', 15, 3, 3600) * 1000;
  const options: RunOptions = {
    namespaces: given.text('namespaces')?.split(',').map((text) => text.trim()).filter(Boolean),
    port: given.number('port', 8080, 0, 65535),
    logLevel: given.oneOf('logLevel', ['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'info'),
    gracePeriodMs: given.number('gracePeriod', 20, 0, 3600) * 1000,
    election: given.oneOf('leaderElect', ['true', 'false'], 'false') === 'false' ? undefined : {
      lease: { name: given.text('leaseName') ?? name, namespace: given.text('leaseNamespace') ?? podNamespace(problems) },
      durationMs,
      renewDeadlineMs: (durationMs * 2) / 3,
      retryMs: Math.min(2_000, durationMs / 6),
    },
  };
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return options;
}

class Given {
  constructor(
    private readonly flags: Readonly<Partial<Record<SettingName, string>>>,
    private readonly env: NodeJS.ProcessEnv,
    private readonly problems: string[],
  ) {}

  text(name: SettingName): string | undefined {
    const value = this.flags[name] ?? this.env[settings[name].env];
    return value === '' ? undefined : value;
  }

  number(name: SettingName, fallback: number, least: number, most: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) this.refuse(name, text, `must be a whole number from ${least} to ${most}`);
    return value;
  }

  oneOf<Value extends string>(name: SettingName, values: readonly Value[], fallback: Value): Value {
    const text = this.text(name);
    const value = text === undefined ? fallback : values.find((candidate) => candidate === text);
    if (value === undefined) this.refuse(name, text as string, `must be one of ${values.join(', ')}`);
    return value ?? fallback;
  }

  private refuse(name: SettingName, value: string, why: string): void {
    const where = this.flags[name] === undefined ? settings[name].env : `--${settings[name].flag}`;
    this.problems.push(`${where} (${value}) ${why}`);
  }
}

function podNamespace(problems: string[]): string {
  try {
    return readFileSync(podNamespaceFile, 'utf8').trim();
  } catch {
    problems.push(`--${settings.leaderElect.flag} needs a namespace for the Lease, and this process runs in no pod; add --${settings.leaseNamespace.flag}`);
    return '';
  }
}
