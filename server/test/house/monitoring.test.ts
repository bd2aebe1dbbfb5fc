import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/domain/errors.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// What the operator's Prometheus and Grafana read is what the service shows.

const FOLDER = fileURLToPath(new URL('../../../deploy/monitoring/', import.meta.url))
const read = (name: string) => readFileSync(`${FOLDER}${name}`, 'utf8')

const server = shared(startTestServer)
/** the type of each metric, by name */
let metrics: ReadonlyMap<string, string>
let text: string
beforeAll(async () => {
  await server.admin.data('{ features { id } }')
  text = await (await fetch(`${server.url}/metrics`)).text()
  metrics = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
})

/** The names of our metrics, and of those about the process, in an expression; a histogram's series count as its own. */
const namesIn = (expressions: string): string[] => [
  ...new Set(
    [...expressions.matchAll(/\b(?:tollgate|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => {
      const base = name.replace(/_(bucket|sum|count)$/, '')
      return metrics.get(base) === 'histogram' ? base : name
    }),
  ),
]

interface Panel {
  id: number
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
  fieldConfig?: { defaults: { unit: string } }
}
const dashboard: { panels: Panel[]; templating: { list: { name: string }[] } } = JSON.parse(
  read('grafana-dashboard.json'),
)
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

describe('monitoring', () => {
  it('alerts about metrics that there are', () => {
    const named = namesIn(read('alerts.yaml').replaceAll(/^ *(#|summary:|description:).*$/gm, ''))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !metrics.has(name))).toEqual([])
  })

  it('shows metrics that there are, and every one of ours', () => {
    const named = namesIn(expressions.join('\n'))
    expect(named.filter((name) => !metrics.has(name))).toEqual([])
    const ours = [...metrics.keys()].filter((name) => name.startsWith('tollgate_'))
    expect(ours.length).toBeGreaterThan(15)
    expect(ours.filter((name) => !named.includes(name))).toEqual([])
  })

  it('asks for error codes that there are', () => {
    const all = `${read('alerts.yaml')}\n${expressions.join('\n')}`
    const codes = [...all.matchAll(/outcome[!=]~?\\?"([A-Z_|]+)\\?"/g)].flatMap(([, list = '']) =>
      list.split('|'),
    )
    expect(codes.length).toBeGreaterThan(2)
    expect(codes.filter((code) => !Object.hasOwn(ERRORS, code))).toEqual([])
  })

  it('shows whether the service is ready, and begins to count failures from zero', () => {
    for (const line of [
      'tollgate_ready 1',
      'tollgate_upkeep_failures_total{work="ledger"} 0',
      'tollgate_upkeep_failures_total{work="pruning"} 0',
      'tollgate_upkeep_failures_total{work="statistics"} 0',
      'tollgate_upkeep_failures_total{work="usage-hours"} 0',
      'tollgate_notices_failed_total 0',
    ])
      expect(text.split('\n')).toContain(line)
  })

  it('has a dashboard whose panels have a unit, an expression and a place of their own', () => {
    expect(panels.length).toBeGreaterThan(15)
    const lacking = panels.filter(
      ({ targets, fieldConfig }) => !targets?.length || !fieldConfig?.defaults.unit,
    )
    expect(lacking).toEqual([])
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const overlapping = panels.filter((one) =>
      panels.some(
        (other) =>
          other.id < one.id &&
          other.gridPos.x < one.gridPos.x + one.gridPos.w &&
          one.gridPos.x < other.gridPos.x + other.gridPos.w &&
          other.gridPos.y < one.gridPos.y + one.gridPos.h &&
          one.gridPos.y < other.gridPos.y + other.gridPos.h,
      ),
    )
    expect(overlapping.map(({ title }) => title)).toEqual([])
    const variables = new Set(
      [...JSON.stringify(dashboard).matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name),
    )
    expect([...variables].sort()).toEqual(dashboard.templating.list.map(({ name }) => name).sort())
  })

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0
  it.runIf(hasPromtool)('alerts as its own tests say, by promtool', () => {
    for (const args of [
      ['check', 'rules', 'alerts.yaml'],
      ['test', 'rules', 'alerts.test.yaml'],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: FOLDER, encoding: 'utf8' })
      expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')])
    }
  })
})
