import { createColors } from 'picocolors';

/** Where the demo is told: headings, commands with what they print, times, and a summary at the end. */
export class Stage {
  private readonly done: { readonly title: string; readonly seconds: number }[] = [];
  private readonly colors: ReturnType<typeof createColors>;
  private started = 0;

  /** @param steps how many there will be */
  constructor(
    private readonly steps: number,
    options: { readonly color: boolean },
  ) {
    this.colors = createColors(options.color);
  }

  /** One step of the story: what happens and what to look at, then how long it took. */
  async step<T>(title: string, look: string, work: () => Promise<T>): Promise<T> {
    const { bold, cyan, green } = this.colors;
    this.write(`\n${bold(cyan(`${this.done.length + 1}/${this.steps} ${title}`))}\n`);
    this.write(`${look}\n\n`);
    this.started = performance.now();
    const result = await work();
    const seconds = this.elapsed();
    this.done.push({ title, seconds });
    this.write(`  ${green('✓')} ${seconds.toFixed(1)} s\n`);
    return result;
  }

  /** A command that was run, and what it printed. */
  command(line: string, output: string, prompt = '$'): void {
    this.write(`  ${this.colors.bold(`${prompt} ${line}`)}\n${indented(output)}`);
  }

  /** Something that happened, with the time since the step began. */
  happened(text: string): void {
    this.write(`  ${this.colors.dim(`+${this.elapsed().toFixed(1)} s`)}  ${text}\n`);
  }

  /** The list of steps with their times, and what was shown. */
  summary(proved: readonly string[]): void {
    const { bold, green } = this.colors;
    const width = Math.max(...this.done.map(({ title }) => title.length));
    this.write(`\n${bold('Summary')}\n`);
    for (const { title, seconds } of this.done) this.write(`  ${title.padEnd(width)}  ${seconds.toFixed(1).padStart(6)} s\n`);
    const all = this.done.reduce((sum, { seconds }) => sum + seconds, 0);
    this.write(`  ${'all'.padEnd(width)}  ${all.toFixed(1).padStart(6)} s\n\n`);
    for (const fact of proved) this.write(`  ${green('✓')} ${fact}\n`);
  }

  write(text: string): void {
    process.stdout.write(text);
  }

  private elapsed(): number {
    return (performance.now() - this.started) / 1000;
  }
}

function indented(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed === '' ? '' : `${trimmed.split('\n').map((line) => `    ${line}`).join('\n')}\n`;
}
