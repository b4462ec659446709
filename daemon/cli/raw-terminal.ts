/** The caller's terminal, lent to a program in a sandbox: raw while that runs, and as it was before on every way out. */
import { spawnSync } from "node:child_process";
import { ReadStream, WriteStream } from "node:tty";

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/** Both ends are terminals, so that something interactive can run here. */
export function hasTerminal(): boolean {
  return process.stdin instanceof ReadStream && process.stdout instanceof WriteStream;
}

/** A terminal that tells no size (a pipe of an editor) has 80 by 24, as everywhere. */
export function terminalSize(): TerminalSize {
  const { rows, columns } = process.stdout;
  return { rows: rows > 0 ? rows : 24, columns: columns > 0 ? columns : 80 };
}

export class RawTerminal {
  #raw = false;
  readonly #restore = () => this.restore();
  readonly #stop = () => {
    this.restore();
    process.kill(process.pid, "SIGSTOP");
  };
  readonly #resume = () => {
    if (!this.#raw) this.#set();
  };

  /** Keys go as they are typed, Ctrl-C too. Call `restore` at the end; the process's own end does, whatever ends it. */
  enter(): void {
    this.#set();
    process.on("exit", this.#restore);
    process.on("SIGTSTP", this.#stop);
    process.on("SIGCONT", this.#resume);
  }

  restore(): void {
    if (!this.#raw) return;
    this.#raw = false;
    process.stdin.setRawMode(false);
  }

  /** Also stops listening to the process's signals. */
  leave(): void {
    this.restore();
    process.off("exit", this.#restore);
    process.off("SIGTSTP", this.#stop);
    process.off("SIGCONT", this.#resume);
  }

  #set(): void {
    this.#raw = true;
    process.stdin.setRawMode(true);
    // Node leaves newlines being translated, which a program that moves by them (an editor) does not expect. Leaving raw
    // mode puts this back too.
    spawnSync("stty", ["-opost"], { stdio: ["inherit", "ignore", "ignore"] });
  }
}
