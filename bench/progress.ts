import { stderr } from 'node:process'

const WIDTH = 30

/** A line of what is going on. Results go to stdout, everything else here. */
export function say(text: string): void {
  stderr.write(`${text}\n`)
}

/** A bar that moves in place on a terminal, and a line every tenth of the way elsewhere. */
export function progressBar(title: string, total: number): (done: number) => void {
  let tenths = -1
  return (done) => {
    const share = Math.min(1, done / total)
    if (stderr.isTTY) {
      const full = Math.round(share * WIDTH)
      const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full)
      stderr.write(`\r${title} ${bar} ${Math.floor(share * 100)} %${done >= total ? '\n' : ''}`)
    } else if (Math.floor(share * 10) > tenths) {
      tenths = Math.floor(share * 10)
      say(`${title} ${tenths * 10} %`)
    }
  }
}
