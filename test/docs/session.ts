import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Block, type Command, commandsOf, isTyped } from './page';
import { hasShape } from './shape';

/** Long enough for the first pull of an image; a page whose command takes longer should say so and wait in steps. */
const patienceMs = 300_000;
/** Commands that go on until they are interrupted: a reader who has seen what the page shows presses Ctrl-C. */
const watches = /\s(-w|--watch)\b/;

/** A reader at a terminal: follows pages literally, one command after the other, with variables and folder kept. */
export class Session {
  private readonly state: string;

  /**
   * @param folder - where the reader stands at first
   * @param notes - an empty folder for what the shell remembers
   */
  public constructor(
    private readonly folder: string,
    notes: string,
    private readonly environment: Readonly<Record<string, string>>,
  ) {
    this.state = join(notes, 'state');
    writeFileSync(this.state, `cd '${folder}'\n`);
  }

  /** Does what a block says: puts it into its file, or types it. @throws Error with place, command and output where it does otherwise than shown */
  public async follow(block: Block): Promise<void> {
    if (block.file !== undefined) this.write(block.file, block.text);
    else if (isTyped(block)) for (const command of commandsOf(block)) await this.type(command);
  }

  private write(file: string, text: string): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  private async type({ where, line, shown }: Command): Promise<void> {
    const { code, output } = await this.run(line, shown);
    const watched = watches.test(line);
    // A failure is only what the reader expects where the page shows its words.
    if (code !== 0 && !watched && (shown ?? '…').trim() === '…') throw new Error(`${where}\n$ ${line}\n${output}\nit ended with code ${code}`);
    if (shown !== undefined && !hasShape(shown, output, !watched)) throw new Error(`${where}\n$ ${line}\n${output}\nthe page shows\n${shown}`);
  }

  private run(line: string, shown: string | undefined): Promise<{ code: number; output: string }> {
    const script = `. '${this.state}'\nset -ea\n${line}\n{ export -p; printf 'cd %q\\n' "$PWD"; } > '${this.state}'`;
    const child = spawn('bash', ['-c', script], { env: { ...process.env, ...this.environment }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    return new Promise((resolve) => {
      let output = '';
      const interrupt = (signal: NodeJS.Signals) => process.kill(-child.pid!, signal);
      const late = setTimeout(() => {
        output += `\n(nothing more within ${patienceMs / 1000} s)`;
        interrupt('SIGKILL');
      }, patienceMs);
      const hear = (chunk: Buffer) => {
        output += chunk.toString();
        if (shown !== undefined && watches.test(line) && hasShape(shown, output, false)) interrupt('SIGINT');
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      // Not 'close': a server that the reader left running in the background holds the pipes.
      child.on('exit', (code) => {
        clearTimeout(late);
        setImmediate(() => resolve({ code: code ?? 128, output }));
      });
    });
  }
}
