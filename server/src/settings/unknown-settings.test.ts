import { describe, expect, it } from 'vitest'
import { misspelt } from './unknown-settings.ts'

describe('a misspelt setting is named with the one that was meant', () => {
  it.for([
    ['TOLLGATE_WROKERS', 'TOLLGATE_WORKERS'],
    ['TOLLGATE_APIKEY', 'TOLLGATE_API_KEY'],
    ['TOLLGATE_OWNER_PASWORD', 'TOLLGATE_OWNER_PASSWORD'],
    ['TOLLGATE_DATADIR', 'TOLLGATE_DATA_DIR'],
    ['TOLLGATE_KEEP_AUDIT_DAY', 'TOLLGATE_KEEP_AUDIT_DAYS'],
    ['tollgate_api_key', 'TOLLGATE_API_KEY'],
    ['TOLGATE_API_KEY', 'TOLLGATE_API_KEY'],
    ['TOLLGATE_PORT', 'PORT'],
    ['TOLLGATE_DATABASE_URL', 'DATABASE_URL'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['STRIPE_SECRET_KYE', 'STRIPE_SECRET_KEY'],
    ['STRIPE_WEBHOK_SECRET', 'STRIPE_WEBHOOK_SECRET'],
    ['PROT', 'PORT'],
    ['HSOT', 'HOST'],
  ])('%s: %s', ([name, meant]) => {
    const [line, ...more] = misspelt({ [name ?? '']: 'x' })
    expect(more).toEqual([])
    expect(line).toContain(`${name} is not a Tollgate setting`)
    expect(line?.endsWith(`did you mean ${meant}?`)).toBe(true)
  })

  it('one that resembles nothing is still said to have no effect', () => {
    expect(misspelt({ TOLLGATE_COLOUR_OF_THE_SKY: 'blue' })).toEqual([
      'TOLLGATE_COLOUR_OF_THE_SKY is not a Tollgate setting and has no effect; see docs/operations.md for all settings.',
    ])
  })
})

it('nothing is said of settings, of other programs, or of what others set for us', () => {
  const env = {
    PORT: '4000',
    HOST: '0.0.0.0',
    DATABASE_URL: 'postgres://x',
    DATABASE_URI: 'postgres://the-other-one-is-set',
    TOLLGATE_OWNER_TOKEN: 'printed-by-the-first-start',
    TOLLGATE_URL: 'http://127.0.0.1:4000',
    TOLLGATE_EMAIL: 'ada@example.com',
    TOLLGATE_PASSWORD: 'of the command line',
    TOLLGATE_SERVICE_HOST: '10.0.0.1',
    TOLLGATE_SERVICE_PORT: '4000',
    TOLLGATE_PORT: 'tcp://10.0.0.1:4000',
    TOLLGATE_PORT_4000_TCP_ADDR: '10.0.0.1',
    STRIPE_API_KEY: 'sk_of_another_program',
    STRIPE_PUBLISHABLE_KEY: 'pk',
    HOSTS: 'x',
    PORTS: 'x',
    POST: 'x',
    PATH: '/bin',
    HOME: '/root',
    HOSTNAME: 'box',
    NODE_ENV: 'production',
    PGHOST: 'db',
    TOLLGATE_WROKERS: '',
  }
  expect(misspelt(env)).toEqual([])
})
