import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { writtenPages } from '../../../site/pages.ts'
import { DRAIN_MS, SHUTDOWN_GRACE_MS } from '../../src/domain/limits.ts'
import { settingNames } from '../../src/settings/unknown-settings.ts'
import { ROOT } from '../harness/source-files.ts'

// What can be checked of the deployment files without a container engine or a cluster.

const text = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8')
const YAML = [
  'compose.yaml',
  ...readdirSync(join(ROOT, 'deploy/kubernetes')).map((name) => `kubernetes/${name}`),
]

// biome-ignore lint/suspicious/noExplicitAny: parsed YAML, whose shape the tests are about
type Parsed = any
const documents = (name: string): Parsed[] => parseAllDocuments(text(name)).map((one) => one.toJS())

/** Of a path, or of anything below it. */
function patternOf(line: string): RegExp {
  const parts = line
    .split(/(\*\*\/|\*)/)
    .map((part) => (part === '**/' ? '(.*/)?' : part === '*' ? '[^/]*' : part.replace('.', '\\.')))
  return new RegExp(`^${parts.join('')}(/|$)`)
}

/** Besides the settings of the service: of Node, and of PostgreSQL's image. */
const OTHERS = ['NODE_ENV']
const unknown = (names: readonly string[]) =>
  names.filter((name) => !settingNames().includes(name) && !OTHERS.includes(name))

it.each(YAML)('%s is valid YAML', (name) => {
  const parsed = parseAllDocuments(text(name))
  expect(parsed.length).toBeGreaterThan(0)
  expect(parsed.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
})

describe('Compose', () => {
  const [file] = documents('compose.yaml')
  const { tollgate, postgres } = file.services

  it('sets only settings that exist, and names only secrets and volumes that it declares', () => {
    expect(unknown(Object.keys(tollgate.environment))).toEqual([])
    expect(tollgate.secrets.filter((name: string) => !(name in file.secrets))).toEqual([])
    const [[volume]] = postgres.volumes.map((mount: string) => mount.split(':'))
    expect(Object.keys(file.volumes)).toEqual([volume])
    expect(Object.keys(tollgate.depends_on)).toEqual(['postgres'])
    expect(postgres.healthcheck.test[0]).toBe('CMD')
    expect(tollgate.environment.TOLLGATE_MASTER_KEY_FILE).toBe(`/run/secrets/${tollgate.secrets[0]}`)
  })

  it('builds the image from a file that exists, and runs it without privileges', () => {
    expect(text(join('..', tollgate.build.dockerfile))).toBe(text('Dockerfile'))
    expect(tollgate).toMatchObject({ init: true, read_only: true, tmpfs: '/tmp', cap_drop: ['ALL'] })
    expect(Number.parseInt(tollgate.stop_grace_period, 10) * 1000).toBeGreaterThan(
      DRAIN_MS + SHUTDOWN_GRACE_MS,
    )
  })
})

describe('Kubernetes', () => {
  const objects = documents('kubernetes/tollgate.yaml')
  const [secret] = documents('kubernetes/secret.example.yaml')
  const kind = (name: string) => objects.find((object) => object.kind === name)
  const deployment = kind('Deployment')
  const pod = deployment.spec.template.spec
  const [container] = pod.containers

  it('has the fields that every object needs, in versions that are served', () => {
    expect([...objects, secret].map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      'apps/v1 Deployment',
      'v1 Service',
      'policy/v1 PodDisruptionBudget',
      'v1 Secret',
    ])
    for (const { metadata } of [...objects, secret]) expect(metadata.name).toMatch(/^[a-z0-9-]{1,63}$/)
  })

  it('selects its own pods', () => {
    const { labels } = deployment.spec.template.metadata
    expect(deployment.spec.selector.matchLabels).toEqual(labels)
    expect(kind('Service').spec.selector).toEqual(labels)
    expect(kind('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels)
    expect(kind('PodDisruptionBudget').spec.minAvailable).toBeLessThan(deployment.spec.replicas)
  })

  it('probes paths of the service on a port that the container has', () => {
    const ports = container.ports.map(({ name }: { name: string }) => name)
    const paths = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((probe) => {
      expect(ports).toContain(container[probe].httpGet.port)
      return container[probe].httpGet.path
    })
    expect(paths).toEqual(['/readyz', '/readyz', '/healthz'])
    expect(ports).toContain(kind('Service').spec.ports[0].targetPort)
  })

  it('sets only settings that exist, from keys of the secret', () => {
    expect(unknown(container.env.map(({ name }: { name: string }) => name))).toEqual([])
    const keys = [
      ...container.env.flatMap(({ valueFrom }: Parsed) => (valueFrom ? [valueFrom.secretKeyRef] : [])),
      ...pod.volumes.flatMap(({ secret }: Parsed) => (secret ? secret.items : [])),
    ].map(({ key }) => key)
    expect(keys.toSorted()).toEqual(Object.keys(secret.stringData).toSorted())
    const volumes = pod.volumes.map(({ name }: { name: string }) => name)
    expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(volumes)
  })

  it('runs without privileges, and stops within its time', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const { value } = container.env.find(({ name }: { name: string }) => name === 'TOLLGATE_DRAIN_MS')
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(Number(value) + SHUTDOWN_GRACE_MS)
  })
})

describe('the image', () => {
  const lines = text('Dockerfile').split('\n')
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))
  const value = (instruction: string) =>
    last.find((line) => line.startsWith(`${instruction} `))?.slice(instruction.length + 1) ?? ''

  it('runs the command as a user of its own, with settings that exist', () => {
    const { bin } = JSON.parse(readFileSync(join(ROOT, 'server/package.json'), 'utf8'))
    expect(JSON.parse(value('ENTRYPOINT'))).toEqual([`/app/node_modules/.bin/${Object.keys(bin)[0]}`])
    expect(JSON.parse(value('CMD'))).toEqual(['start'])
    expect(value('USER')).toBe('node')
    const set = Object.fromEntries(
      value('ENV')
        .split(' ')
        .map((pair) => pair.split('=')),
    )
    expect(unknown(Object.keys(set))).toEqual([])
    expect([set.PORT, set.TOLLGATE_DATA_DIR]).toEqual([value('EXPOSE'), value('VOLUME')])
  })

  it('is built from a context with every page of the documentation', () => {
    // The last rule that matches a path, or a folder that it is in, decides.
    const rules = text('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => ({ ignores: !line.startsWith('!'), pattern: patternOf(line.replace('!', '')) }))
    const isIgnored = (path: string) => rules.findLast(({ pattern }) => pattern.test(path))?.ignores ?? false
    expect(isIgnored('server/node_modules/pg/package.json')).toBe(true)
    expect(isIgnored('deploy/compose.yaml')).toBe(true)
    expect(writtenPages().length).toBeGreaterThan(20)
    expect(writtenPages().filter(({ source }) => isIgnored(source))).toEqual([])
  })

  it('has a health check that Node can parse', () => {
    const [, command = ''] = /CMD (\["node".*\])$/m.exec(text('Dockerfile')) ?? []
    const [node, option, script] = JSON.parse(command)
    expect([node, option]).toEqual(['node', '-e'])
    expect(() => new Function(script)).not.toThrow()
  })
})

describe('the systemd unit', () => {
  const unit = text('tollgate.service')
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''

  it('sets only settings that exist, and waits until the service has stopped', () => {
    expect(
      unknown(
        value('Environment')
          .split(' ')
          .map((pair) => pair.split('=')[0] ?? ''),
      ),
    ).toEqual([])
    expect(value('ExecStart')).toMatch(/\/node_modules\/\.bin\/tollgate start$/)
    expect(Number(value('TimeoutStopSec')) * 1000).toBeGreaterThan(DRAIN_MS + SHUTDOWN_GRACE_MS)
    expect(value('KillMode')).toBe('mixed')
  })
})
