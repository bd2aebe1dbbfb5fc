import { ActionIcon, Box, Button, Group, Paper, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconTrash } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { type CatalogueFeature, type Grant, RESET_PERIODS } from '../grants.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loading } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { StickyActions } from '../ui/sticky-actions.tsx'
import { UnitsInput } from '../ui/units-input.tsx'
import { CapFields, capProblems, NEW_CAP } from './cap-fields.tsx'
import { FormDialog } from './form-dialog.tsx'
import { hasOverageCap, inputOf, MAX_CAPS, NEW_GRANT, valuesOf } from './grant-values.ts'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import classes from './package-form.module.css'
import { useUnsaved } from './unsaved.ts'

const FeatureForm = lazy(async () => ({ default: (await import('./feature-form.tsx')).FeatureForm }))

const EDIT = graphql(`
  mutation EditPackage($appId: String!, $id: String!, $input: EditPackageInput!, $version: String) {
    editPackage(appId: $appId, id: $id, input: $input, expectedVersion: $version) { id version }
  }
`)

interface PackageFormProps {
  appId: string
  id: string
  /** the version the form was filled from */
  version: string
  name: string
  grants: readonly Grant[]
  features: readonly (CatalogueFeature & { archived: boolean })[]
  /** edits of a published package wait until it is published again */
  published: boolean
  readOnly: boolean
  /** Reloads, and fills a new form. */
  onReload: () => void
  /** beside the button that saves; `dirty`: that one is the primary button */
  actions?: (dirty: boolean) => ReactNode
}

export function PackageForm(props: PackageFormProps) {
  const { appId, id, features, readOnly } = props
  const form = useForm({
    initialValues: { name: props.name, grants: props.grants.map(valuesOf) },
    validate: { name: required('The name'), grants: { caps: capProblems } },
  })
  // From when the form was filled: changes that arrive while typing must not count as seen.
  const [seen, setSeen] = useState(props.version)
  const edited = (version: string | null) => {
    const { name, grants } = form.getValues()
    return { appId, id, input: { name, features: grants.map(inputOf(features)) }, version }
  }
  const { saved } = useUnsaved(form, async () => {
    if (form.validate().hasErrors) return false
    return edit.mutateAsync(edited(seen), ontoFields(form)).then(
      () => true,
      () => false,
    )
  })
  const edit = useChange(EDIT, {
    said: props.published ? 'Draft saved. Publish it to make it live.' : 'Saved.',
    done: saved(({ editPackage }) => {
      if (editPackage) setSeen(editPackage.version)
    }),
  })
  const conflict = edit.error instanceof ApiError && edit.error.code === 'CONFLICT'
  const save = (version: string | null) => edit.mutate(edited(version), ontoFields(form))
  const featureOf = (id: string) => features.find((feature) => feature.id === id)
  const [creating, setCreating] = useState(false)
  const may = useMay()
  const left = features.filter(
    ({ id, archived }) => !archived && !form.values.grants.some((grant) => grant.id === id),
  )
  return (
    <>
      <form noValidate onSubmit={form.onSubmit(() => save(seen))} aria-label="Content of the package">
        <Stack>
          {conflict ? (
            <Note tone="warn" role="alert" title="Someone else has changed this package">
              <Text size="sm" mb="sm">
                Your edits are still here, and theirs are saved.
              </Text>
              <Group gap="xs">
                <Button variant="default" onClick={props.onReload}>
                  Load their version
                </Button>
                <Button variant="default" onClick={() => save(null)}>
                  Overwrite with mine
                </Button>
              </Group>
            </Note>
          ) : (
            <FormAlert error={edit.error} fields={fieldsOf(form)} />
          )}
          <TextInput label="Name" maw={420} readOnly={readOnly} {...form.getInputProps('name')} />
          {form.values.grants.length > 0 && (
            <Paper radius="md">
              {form.values.grants.map((grant, row) => (
                <Box
                  key={grant.id}
                  className={classes.grant}
                  role="group"
                  aria-label={featureOf(grant.id)?.name ?? grant.id}
                >
                  <Group align="flex-end" gap="md">
                    <div className={classes.name}>
                      <AnchorLink
                        to="/apps/$app/features/$id"
                        params={{ app: appId, id: grant.id }}
                        fw={600}
                        size="sm"
                        c="var(--mantine-color-text)"
                        className="break"
                      >
                        {featureOf(grant.id)?.name ?? grant.id}
                      </AnchorLink>
                      <Text size="xs" c="dimmed" ff="monospace" className="break">
                        {grant.id}
                      </Text>
                    </div>
                    {featureOf(grant.id)?.type === 'BINARY' ? (
                      <Text size="sm" c="dimmed" style={{ alignSelf: 'center' }}>
                        Included, without a limit
                      </Text>
                    ) : (
                      <>
                        <UnitsInput
                          label={limitLabel(featureOf(grant.id))}
                          placeholder="unlimited"
                          w={130}
                          readOnly={readOnly}
                          {...form.getInputProps(`grants.${row}.limit`)}
                        />
                        <Select
                          label="Resets"
                          w={140}
                          data={RESET_PERIODS}
                          allowDeselect={false}
                          readOnly={readOnly}
                          {...form.getInputProps(`grants.${row}.resetPeriod`)}
                        />
                        <Switch
                          label="Overage"
                          pb="xs"
                          disabled={readOnly}
                          {...form.getInputProps(`grants.${row}.overageEnabled`, { type: 'checkbox' })}
                        />
                        {hasOverageCap(grant) && (
                          <UnitsInput
                            label="Overage up to"
                            placeholder="any amount"
                            w={130}
                            readOnly={readOnly}
                            {...form.getInputProps(`grants.${row}.overageCap`)}
                          />
                        )}
                        <Button
                          variant="subtle"
                          size="compact-sm"
                          mb="xxs"
                          disabled={readOnly || grant.caps.length >= MAX_CAPS}
                          aria-label={`Add cap to ${featureOf(grant.id)?.name ?? grant.id}`}
                          onClick={() => form.insertListItem(`grants.${row}.caps`, NEW_CAP)}
                        >
                          Add cap
                        </Button>
                      </>
                    )}
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      mb="xxs"
                      className={classes.remove ?? ''}
                      disabled={readOnly}
                      aria-label={`Remove ${featureOf(grant.id)?.name ?? grant.id} from the package`}
                      onClick={() => form.removeListItem('grants', row)}
                    >
                      <IconTrash size={17} />
                    </ActionIcon>
                  </Group>
                  {grant.caps.map((_, cap) => (
                    <CapFields
                      key={cap}
                      number={cap + 1}
                      fieldProps={(field) => form.getInputProps(`grants.${row}.caps.${cap}.${field}`)}
                      readOnly={readOnly}
                      onRemove={() => form.removeListItem(`grants.${row}.caps`, cap)}
                    />
                  ))}
                </Box>
              ))}
            </Paper>
          )}
          <Group align="flex-end" gap="xs">
            <Select
              key={form.values.grants.length}
              label="Add a feature"
              placeholder={left.length > 0 ? 'Choose a feature' : 'All features are included'}
              data={left.map(({ id, name }) => ({ value: id, label: name }))}
              searchable
              disabled={readOnly || left.length === 0}
              w={260}
              onChange={(id) => {
                if (id !== null) form.insertListItem('grants', { ...NEW_GRANT, id })
              }}
            />
            <Button
              variant="default"
              disabled={readOnly || !may('createFeature')}
              onClick={() => setCreating(true)}
            >
              Create feature
            </Button>
          </Group>
          <Text size="sm" c="dimmed">
            An empty limit means unlimited. With overage, usage past the limit is counted, not refused. A cap
            refuses usage beyond it in each window of the UTC calendar, whichever source pays.
          </Text>
          <StickyActions about={form.isDirty() ? 'Not saved yet' : 'Everything is saved'}>
            <Button
              type="submit"
              variant={form.isDirty() || !props.actions ? 'filled' : 'default'}
              loading={edit.isPending}
              disabled={readOnly || !form.isDirty()}
            >
              {props.published ? 'Save draft' : 'Save'}
            </Button>
            {props.actions?.(form.isDirty())}
          </StickyActions>
        </Stack>
      </form>
      {/* Outside of the form: its submission would submit this one too. */}
      <FormDialog opened={creating} onClose={() => setCreating(false)} title="Create feature">
        <Suspense fallback={<Loading />}>
          <FeatureForm
            appId={appId}
            feature={null}
            onDone={(id) => {
              setCreating(false)
              if (id !== undefined) form.insertListItem('grants', { ...NEW_GRANT, id })
            }}
          />
        </Suspense>
      </FormDialog>
    </>
  )
}

/** "Limit (calls)" */
const limitLabel = (feature: CatalogueFeature | undefined) =>
  feature?.unitLabelPlural ? `Limit (${feature.unitLabelPlural})` : 'Limit'
