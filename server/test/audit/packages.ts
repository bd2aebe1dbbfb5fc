import assert from 'node:assert/strict'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, ISO_TIME, PACKAGE_NOT_FOUND, refuses, refusesDocument } from './expect.ts'

const packageFields = section('spec §2 Package')
const packageStatus = section('spec §3 package status')
const queriesTable = section('spec §4 queries table')
const rule1 = section('spec §4 mutation rule 1')

const CREATE = `mutation ($input: CreatePackageInput!) {
  createPackage(input: $input) { id name status isAddon metadata features { id limit } prices { id } updatedAt }
}`
const READ = 'query ($id: String!) { package(id: $id) { id name status metadata isAddon updatedAt } }'
const UPDATE = `mutation ($id: String!, $input: UpdatePackageInput!) {
  updatePackage(id: $id, input: $input) { id name status metadata isAddon updatedAt }
}`
const LIST = 'query ($status: String) { packages(status: $status) { id status } }'

const ids = (list: { id: string }[]) => list.map(({ id }) => id)

export const packages: Audit[] = [
  packageFields.withKey(
    'S2.P.created-as-given',
    'createPackage returns the package as given, with its features and without prices.',
    async ({ admin, app }) => {
      const [a, b] = [await app.makeFeature(), await app.makeFeature({ type: 'BINARY' })]
      const given = { id: newId('package'), name: 'Pro', isAddon: true, metadata: { rank: 2 } }
      const features = [{ id: a, entitlement: { limit: 10 } }, { id: b }]
      const { createPackage } = await admin.data(CREATE, { input: { ...given, features } })
      const { updatedAt, ...made } = createPackage
      assert.match(updatedAt, ISO_TIME)
      assert.deepEqual(made, {
        ...given,
        status: 'DRAFT',
        features: [
          { id: a, limit: '10' },
          { id: b, limit: null },
        ],
        prices: [],
      })
    },
  ),
  packageStatus.withKey(
    'S3.P.created-draft',
    'A package created through the API is DRAFT.',
    async ({ admin, app }) => {
      const id = await app.makeDraft()
      assert.equal((await admin.data(READ, { id })).package.status, 'DRAFT')
    },
  ),
  packageStatus.withOwner(
    'S3.P.published-in-dashboard',
    'Publishing in the dashboard moves a package from DRAFT to PUBLISHED.',
    async ({ own }) => {
      const id = await own.makeDraft()
      assert.deepEqual(await own.publish(id), { id, status: 'PUBLISHED' })
      assert.equal((await own.admin.data(READ, { id })).package.status, 'PUBLISHED')
    },
  ),
  packageStatus.withKey(
    'S3.P.draft-not-listed',
    'packages without a status does not list drafts.',
    async ({ admin, app }) => {
      const id = await app.makeDraft()
      const { packages } = await admin.data(LIST)
      assert.ok(!ids(packages).includes(id))
      assert.ok(packages.every((p: { status: string }) => p.status === 'PUBLISHED'))
    },
  ),
  queriesTable.withOwner(
    'S4.Q0.packages-by-status',
    'packages lists the PUBLISHED ones by default or when asked, and the DRAFT ones when asked.',
    async ({ freshApp }) => {
      const app = await freshApp()
      const [draft, published] = [await app.makeDraft(), await app.makePlan()]
      assert.deepEqual(ids((await app.admin.data(LIST)).packages), [published])
      assert.deepEqual(ids((await app.admin.data(LIST, { status: 'PUBLISHED' })).packages), [published])
      assert.deepEqual(ids((await app.admin.data(LIST, { status: 'DRAFT' })).packages), [draft])
    },
  ),
  section('gap: packages(status:)').withKey(
    'G.TYPES.packages-status-checked',
    'packages with a status that is none fails with BAD_USER_INPUT.',
    async ({ admin }) => void (await refuses(admin, LIST, { status: 'ARCHIVED' }, BAD_USER_INPUT)),
  ),
  queriesTable.withKey(
    'S4.Q0.include-features-harmless',
    'includeFeatures, which is for the SDKs, changes nothing here: the selection decides.',
    async ({ admin, app }) => {
      const feature = await app.makeFeature()
      const id = await app.makeDraft([{ id: feature }])
      for (const includeFeatures of [true, false]) {
        const answer = await admin.data(
          `query ($id: String!, $includeFeatures: Boolean) {
            package(id: $id, includeFeatures: $includeFeatures) { features { id } }
            bare: package(id: $id, includeFeatures: $includeFeatures) { id }
            packages(status: "DRAFT", includeFeatures: $includeFeatures) { id features { id } }
          }`,
          { id, includeFeatures },
        )
        assert.deepEqual(answer.package, { features: [{ id: feature }] })
        assert.deepEqual(answer.bare, { id })
        const listed = answer.packages.find((p: { id: string }) => p.id === id)
        assert.deepEqual(listed, { id, features: [{ id: feature }] })
      }
    },
  ),
  section('spec §4 query rule 4').withKey(
    'S4.Q4.package-by-id',
    'package takes the id that was set at creation.',
    async ({ admin, app }) => {
      const id = await app.makeDraft([], { name: 'Team' })
      const found = (await admin.data(READ, { id })).package
      assert.equal(found.id, id)
      assert.equal(found.name, 'Team')
    },
  ),
  packageFields.withKey(
    'S2.P.is-addon',
    'isAddon is as given, and false, a base plan, when left out.',
    async ({ admin, app }) => {
      for (const [input, expected] of [
        [{}, false],
        [{ isAddon: false }, false],
        [{ isAddon: true }, true],
      ] as const) {
        const id = await app.makeDraft([], input)
        assert.equal((await admin.data(READ, { id })).package.isAddon, expected)
      }
    },
  ),
  packageFields.withOwner(
    'S2.P.updated-at',
    'updatedAt is an ISO 8601 time in UTC with milliseconds, and moves when the package changes.',
    async ({ freshApp }) => {
      const app = await freshApp({ testClock: true })
      const id = await app.makeDraft()
      const time = `${new Date().getUTCFullYear() + 1}-03-04T05:06:07.089Z`
      await app.advanceTo(time)
      const { updatePackage } = await app.admin.data(UPDATE, { id, input: { metadata: { a: 1 } } })
      assert.equal(updatePackage.updatedAt, time)
      assert.equal((await app.admin.data(READ, { id })).package.updatedAt, time)
    },
  ),
  rule1.withKey(
    'S4.M1.metadata-changes',
    'updatePackage replaces the metadata and leaves all else, the status too, as it was.',
    async ({ admin, app }) => {
      const id = await app.makeDraft([], { metadata: { a: 1, b: 2 }, isAddon: true })
      const { updatedAt: _before, ...before } = (await admin.data(READ, { id })).package
      const { updatePackage } = await admin.data(UPDATE, { id, input: { metadata: { b: 3 } } })
      const { updatedAt: _after, ...after } = updatePackage
      assert.deepEqual(after, { ...before, metadata: { b: 3 } })
    },
  ),
  rule1.withKey(
    'S4.M1.nothing-else',
    'updatePackage refuses any field but metadata.',
    async ({ admin, app }) => {
      const id = await app.makeDraft()
      for (const field of ['name: "N"', 'isAddon: true', 'status: "PUBLISHED"', 'features: []', 'id: "n"']) {
        await refusesDocument(admin, `mutation { updatePackage(id: "${id}", input: { ${field} }) { id } }`, {
          code: 'GRAPHQL_VALIDATION_FAILED',
          type: 'Error',
          status: 400,
        })
      }
    },
  ),
  rule1.withOwner(
    'S4.M1.other-changes-in-dashboard',
    'The dashboard changes what updatePackage cannot: the name and the features.',
    async ({ own, dashboard }) => {
      const [a, b] = [await own.makeFeature(), await own.makeFeature()]
      const id = await own.makeDraft([{ id: a }])
      await dashboard.data(
        `mutation ($appId: String!, $id: String!, $input: EditPackageInput!) {
          editPackage(appId: $appId, id: $id, input: $input) { id }
        }`,
        { appId: own.id, id, input: { name: 'New', features: [{ id: b, entitlement: { limit: 7 } }] } },
      )
      const read = await own.admin.data(
        'query ($id: String!) { package(id: $id) { name features { id limit } } }',
        { id },
      )
      assert.deepEqual(read.package, { name: 'New', features: [{ id: b, limit: '7' }] })
    },
  ),
  section('gap: unknown ids').withKey(
    'G.ERRORS.package-not-found',
    'package and updatePackage on an unknown id fail with PACKAGE_NOT_FOUND.',
    async ({ admin }) => {
      await refuses(admin, READ, { id: newId('package') }, PACKAGE_NOT_FOUND)
      await refuses(admin, UPDATE, { id: newId('package'), input: { metadata: {} } }, PACKAGE_NOT_FOUND)
    },
  ),
  section('gap: identifiers').withKey(
    'G.ERRORS.package-id-taken',
    'createPackage with a taken id fails with BAD_USER_INPUT.',
    async ({ admin, app }) => {
      const id = await app.makeDraft()
      await refuses(admin, CREATE, { input: { id, name: 'Another' } }, BAD_USER_INPUT)
    },
  ),
]
