import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

const END = '\u001e'

/** One shell of a reader: variables of one block are set in the next. It ends at the first command that fails. */
export class Shell {
  readonly #bash: ChildProcess
  readonly #gone: Promise<unknown>
  #output = ''
  #look = () => {}

  constructor(folder: string, env: Record<string, string>) {
    this.#bash = spawn('bash', ['-e', '-s'], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? folder, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
      // A process group of its own, so that all its processes can be ended together.
      detached: true,
    })
    this.#gone = once(this.#bash, 'exit')
    this.#bash.on('exit', () => this.#look())
    this.#bash.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text
      this.#look()
    })
    this.#bash.stdin?.write('exec 2>&1\n')
  }

  /** Runs a block, and returns what it printed. */
  run(block: string): Promise<string> {
    this.#output = ''
    return new Promise((resolve, reject) => {
      this.#look = () => {
        if (this.#output.includes(END)) {
          // Without bash's message about a program that the block stopped.
          const printed = this.#output.replace(END, '')
          resolve(printed.replaceAll(/^.*bash: line \d+: +\d+ Terminated.*\n/gm, ''))
        } else if (this.#hasEnded()) reject(new Error(`failed: ${block}\n${this.#output}`))
      }
      this.#look()
      this.#bash.stdin?.write(`${block}\nprintf '${END}'\n`)
    })
  }

  async end(): Promise<void> {
    if (this.#hasEnded() || this.#bash.pid === undefined) return
    process.kill(-this.#bash.pid, 'SIGKILL')
    await this.#gone
  }

  #hasEnded(): boolean {
    return this.#bash.exitCode !== null || this.#bash.signalCode !== null
  }
}
